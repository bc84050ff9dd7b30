-- Find the patents that a paper is paired with.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_ppp_paper_patent') }}
where fate = 'kept'
