-- A label cannot be known before the example it labels.
{% for task in task_catalog() %}
    select
        '{{ task.name }}' as task,
        task_year,
        label_year
    from {{ ref('task_' ~ task.name) }}
    where label_year < task_year
    {{ 'union all' if not loop.last }}
{% endfor %}
