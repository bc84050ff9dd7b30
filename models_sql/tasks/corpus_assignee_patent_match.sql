-- The documents that assignee_patent_match ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_assignee_patent_match_corpus') }}
