-- Tell the value of a patent from the market's reaction to its grant.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_kogan_value') }}
