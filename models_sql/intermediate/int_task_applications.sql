-- Pre-grant utility applications with text and a filing year, the first publication of each. The
-- text itself stays in staging.
with texts as (
    select
        publications.application_id,
        publications.pgpub_id,
        publications.doc_id,
        publications.filing_year
    from {{ ref('int_publications') }} as publications
    inner join {{ ref('stg_patentsview__pg_published_applications') }} as published
        on publications.pgpub_id = published.pgpub_id
    inner join {{ ref('stg_patentsview__pg_abstracts') }} as abstracts
        on publications.pgpub_id = abstracts.pgpub_id
    where
        published.patent_type = 'utility'
        and {{ has_text('published.title') }}
        and {{ has_text('abstracts.abstract') }}
)

select
    application_id,
    min_by(pgpub_id, pgpub_id) as pgpub_id,
    min_by(doc_id, pgpub_id) as doc_id,
    min_by(filing_year, pgpub_id) as filing_year
from texts
group by application_id
order by filing_year, doc_id
