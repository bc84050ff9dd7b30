-- Classify a patent by the kind of its first-listed assignee.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_assignee_type') }}
