-- Tell patents that were maintained through their eighth year from lapsed ones.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_renewal') }}
