-- Find the sample patents that a patent cites.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_patent_cite') }}
where fate = 'kept'
