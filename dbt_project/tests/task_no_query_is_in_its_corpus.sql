-- A query would be the best answer to itself.
{% for task in task_catalog() if task.format == 'retrieve' %}
    select
        '{{ task.name }}' as task,
        doc_id
    from {{ ref('corpus_' ~ task.name) }}
    where
        doc_id in (select query_id from {{ ref('task_' ~ task.name) }})
        {% if task.parts %}
            or doc_id in (select parts.doc_id from {{ ref('queries_' ~ task.name) }} as parts)
        {% endif %}
    {{ 'union all' if not loop.last }}
{% endfor %}
