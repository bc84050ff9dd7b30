-- Find the papers that a paper cites (ours: the paper has no such task).
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_paper_cite') }}
where fate = 'kept'
