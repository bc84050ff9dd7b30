-- Find the other patents of the assignee that a patent had at filing.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_same_initial_assignee') }}
where fate = 'kept'
