-- Whether the assignee at filing is of the United States, as often as that is.
select
    doc_id,
    task_year,
    label_year,
    case when is_foreign then 'foreign' else 'us' end as label,
    {{ task_split('doc_id', 'task_year', 'us_foreign') }} as split
from {{ ref('int_task_firms') }}
where is_foreign is not null
order by task_year, doc_id
