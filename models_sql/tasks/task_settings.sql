-- The settings this build of the benchmark used, and what those left open came to.
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
union all
select
    'forward_citation' as task,
    'observed_to_citations' as setting,
    cast(observed_to as varchar) as value
from {{ ref('int_task_observed_to') }}
order by task, setting
