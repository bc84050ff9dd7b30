-- The documents that paper_cite ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_paper_cite_corpus') }}
