-- The documents that papers_cocite ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_papers_cocite_corpus') }}
