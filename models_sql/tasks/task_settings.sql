-- The settings this build of the benchmark used, and what those left open came to.
{{ config(materialized='table') }}

{% set rows = [] %}
{% for name in [
    'sample_first_year', 'sample_last_year', 'patents_per_cell', 'sample_without_cpc'
] %}
    {% do rows.append(('common_patent_sample', name)) %}
{% endfor %}
{% for task in task_catalog() %}
    {% for name in ['seed'] + task.settings %}
        {% do rows.append((task.name, name)) %}
    {% endfor %}
{% endfor %}

{% for task, name in rows %}
    select
        '{{ task }}' as task,
        '{{ name }}' as setting,
        '{{ var(name) }}' as value
    union all
{% endfor %}
select
    'forward_citation' as task,
    'observed_to_citations' as setting,
    cast(observed_to as varchar) as value
from {{ ref('int_task_observed_to') }}
order by task, setting
