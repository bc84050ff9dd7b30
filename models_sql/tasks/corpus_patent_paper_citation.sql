-- The documents that patent_paper_citation ranks for every query; no query is among them.
select doc_id
from {{ ref('int_task_patent_paper_citation_corpus') }}
