-- The documents that paper_patent_retrieval ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_paper_patent_retrieval_corpus') }}
