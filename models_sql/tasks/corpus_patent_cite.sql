-- The documents that patent_cite ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_patent_cite_corpus') }}
