-- Find the sample patents that others cite together with a patent.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_patent_cocite') }}
where fate = 'kept'
