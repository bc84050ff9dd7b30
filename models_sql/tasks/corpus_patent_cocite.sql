-- The documents that patent_cocite ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_patent_cocite_corpus') }}
