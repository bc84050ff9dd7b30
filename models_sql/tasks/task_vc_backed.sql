-- Tell the patents of venture-backed firms.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_vc_backed') }}
