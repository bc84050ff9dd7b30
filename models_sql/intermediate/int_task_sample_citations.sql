-- Who cites a sample patent: granted, non-withdrawn US utility patents, with or without text,
-- in the sample or not. Distinct pairs; a patent does not cite itself; undated citers are out.
with patents as (
    select
        patent_id,
        doc_id,
        grant_date,
        known_year as grant_year
    from {{ ref('int_patents') }}
    where is_utility and known_year is not null
),

sample as (
    select doc_id
    from {{ ref('int_task_common_patent_sample') }}
),

citations as (
    select distinct
        patent_id,
        cited_patent_id
    from {{ ref('stg_patentsview__us_patent_citations') }}
)

select
    citing.doc_id as citing_id,
    citing.grant_date as citing_date,
    citing.grant_year as citing_year,
    cited.doc_id as cited_id,
    cited.grant_date as cited_date,
    cited.grant_year as cited_year
from citations
inner join patents as citing on citations.patent_id = citing.patent_id
inner join patents as cited on citations.cited_patent_id = cited.patent_id
inner join sample on cited.doc_id = sample.doc_id
where citing.doc_id <> cited.doc_id
order by citing_year, citing_id, cited_id
