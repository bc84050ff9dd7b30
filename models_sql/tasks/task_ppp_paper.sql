-- Tell the papers that disclose the same invention as a patent.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_ppp_paper') }}
