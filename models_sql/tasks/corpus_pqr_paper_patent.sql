-- The documents that pqr_paper_patent ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_pqr_paper_patent_corpus') }}
