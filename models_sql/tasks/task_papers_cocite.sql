-- Find the papers that patents cite together with a paper.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_papers_cocite') }}
where fate = 'kept'
