-- The documents that same_inventor ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_same_inventor_corpus') }}
