-- Find the papers of the researchers who invented a patent.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_pqr_patent_paper') }}
where fate = 'kept'
