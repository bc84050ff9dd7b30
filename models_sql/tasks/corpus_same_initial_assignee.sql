-- The documents that same_initial_assignee ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_same_initial_assignee_corpus') }}
