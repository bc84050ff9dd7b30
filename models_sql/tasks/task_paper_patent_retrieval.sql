-- Find the patents that cite a paper.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_paper_patent_retrieval') }}
where fate = 'kept'
