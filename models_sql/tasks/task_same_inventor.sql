-- Find the other sample patents of a patent's inventors.
select
    query_id,
    doc_id,
    1 as relevant,
    task_year,
    label_year,
    trigram_overlap
from {{ ref('int_task_same_inventor') }}
where fate = 'kept'
