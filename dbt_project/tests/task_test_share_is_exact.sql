-- Each year of a task with a split has its share of test examples rounded down, or none.
{% for task in task_catalog() if task.format != 'retrieve' %}
    select
        '{{ task.name }}' as task,
        task_year,
        count(*) as n_examples,
        count(*) filter (where split = 'test') as n_test
    from {{ ref('task_' ~ task.name) }}
    group by task_year
    having
        count(*) filter (where split = 'test') <> case
            when count(*) < {{ var('min_year_examples') }} then 0
            else floor(cast({{ var('test_share') }} as decimal(9, 6)) * count(*))
        end
    {{ 'union all' if not loop.last }}
{% endfor %}
