-- The settings this build of the benchmark used, and what those left open came to; a source that
-- observed nothing has no row.
{{ config(materialized='table') }}

with given (task, setting, value) as (
    values
    {{ task_setting_rows(task_catalog()) }}
)

select
    task,
    setting,
    value
from given
{% for task in task_catalog() if task.observed %}
    union all
    select
        '{{ task.name }}' as task,
        'observed_to_{{ task.observed }}' as setting,
        cast(observed_to as varchar) as value
    from {{ ref('int_task_observed_to') }}
    where
        label_source = '{{ task.observed }}'
        and observed_to is not null
{% endfor %}
order by task, setting
