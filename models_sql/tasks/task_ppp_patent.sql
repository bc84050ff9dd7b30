-- Tell the patents that disclose the same invention as a paper.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_ppp_patent') }}
