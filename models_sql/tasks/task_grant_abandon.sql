-- Tell applications that were granted from abandoned ones, by their text before grant.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_grant_abandon') }}
