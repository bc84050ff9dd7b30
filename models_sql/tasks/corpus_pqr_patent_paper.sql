-- The documents that pqr_patent_paper ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_pqr_patent_paper_corpus') }}
