-- No row of a retrieval task misses a document or a year, and every relevant document is ranked.
{% for task in task_catalog() if task.format == 'retrieve' %}
    select
        '{{ task.name }}' as task,
        query_id,
        doc_id
    from {{ ref('task_' ~ task.name) }}
    where
        query_id is null
        or doc_id is null
        or task_year is null
        or label_year is null
        or doc_id not in (select ranked.doc_id from {{ ref('corpus_' ~ task.name) }} as ranked)
    {{ 'union all' if not loop.last }}
{% endfor %}
