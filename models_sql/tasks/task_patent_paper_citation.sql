-- Find the papers that a patent cites.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_patent_paper_citation') }}
where fate = 'kept'
