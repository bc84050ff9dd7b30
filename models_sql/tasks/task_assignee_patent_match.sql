-- Find the held-out patents of an assignee by the mean of its others.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year
from {{ ref('int_task_assignee_patent_match') }}
where fate = 'kept'
