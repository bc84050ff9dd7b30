-- The disambiguated inventors of each sample patent, each once.
select distinct
    sample.doc_id,
    sample.grant_year,
    inventors.inventor_id
from {{ ref('int_task_common_patent_sample') }} as sample
inner join {{ ref('int_patents') }} as patents on sample.doc_id = patents.doc_id
inner join {{ ref('stg_patentsview__inventors') }} as inventors
    on patents.patent_id = inventors.patent_id
where inventors.inventor_id is not null
order by sample.grant_year, sample.doc_id, inventors.inventor_id
