-- One row per granted patent of a known type, dated or not, with its abstract and filing year where
-- there are any. Of several records of one number the one known first wins, then the lowest. The
-- office's own list of withdrawals is newer than the flag: a patent is withdrawn by either.
with patents as (
    select patent_id, doc_id, is_utility, withdrawn, grant_date, grant_year, title
    from {{ ref('stg_patentsview__patents') }}
    where doc_id is not null
    qualify row_number() over (partition by patent_id order by grant_date, title) = 1
),

withdrawals as (
    select distinct patent_id
    from {{ ref('stg_uspto__withdrawn') }}
),

abstracts as (
    select patent_id, abstract
    from {{ ref('stg_patentsview__patent_abstracts') }}
    where {{ has_text('abstract') }}
    qualify row_number() over (partition by patent_id order by md5(abstract)) = 1
),

applications as (
    select patent_id, min(filing_year) as filing_year
    from {{ ref('stg_patentsview__applications') }}
    group by patent_id
)

select
    patents.doc_id,
    'us:' || patents.patent_id as doc_uri,
    patents.patent_id,
    patents.is_utility and withdrawals.patent_id is null as is_utility,
    greatest(
        patents.withdrawn, cast(withdrawals.patent_id is not null as integer)
    ) as withdrawn,
    patents.grant_date,
    patents.grant_year as known_year,
    applications.filing_year,
    patents.title,
    abstracts.abstract
from patents
left join withdrawals on patents.patent_id = withdrawals.patent_id
left join abstracts on patents.patent_id = abstracts.patent_id
left join applications on patents.patent_id = applications.patent_id
