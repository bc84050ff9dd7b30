-- Tell the patents of organisations of the United States from foreign ones.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_us_foreign') }}
