-- Find the patents of the researchers who wrote a paper.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_pqr_paper_patent') }}
where fate = 'kept'
