-- Tell the papers of Pasteur's-quadrant researchers.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_pqr_paper') }}
