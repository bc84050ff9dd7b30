-- No retrieval task names a relevant document of a query twice.
{% for task in task_catalog() if task.format == 'retrieve' %}
    select
        '{{ task.name }}' as task,
        query_id,
        doc_id
    from {{ ref('task_' ~ task.name) }}
    group by query_id, doc_id
    having count(*) > 1
    {{ 'union all' if not loop.last }}
{% endfor %}
