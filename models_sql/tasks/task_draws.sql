-- What the draw of each retrieval task cost: how many could be a query, how many became one, and
-- how many relevant documents were lost to the rule that no query is in the corpus.
{{ config(materialized='table') }}

{% for task in task_catalog() if task.format == 'retrieve' %}
    select
        '{{ task.name }}' as task,
        (
            select count(distinct query_id)
            from {{ ref('int_task_' ~ task.name ~ '_pairs') }}
        ) as n_eligible,
        count(distinct query_id) as n_drawn,
        count(distinct query_id) filter (where fate = 'released') as n_released,
        count(distinct query_id) filter (where fate = 'corpus_full') as n_dropped,
        count(distinct query_id) filter (where fate = 'kept') as n_queries,
        count(*) filter (where fate <> 'released') as n_pairs,
        count(*) filter (where fate = 'relevant_is_query') as n_pairs_lost_to_queries,
        count(*) filter (where fate = 'corpus_full') as n_pairs_dropped,
        count(*) filter (where fate = 'kept') as n_pairs_kept
    from {{ ref('int_task_' ~ task.name) }}
    {{ 'union all' if not loop.last }}
{% endfor %}
order by task
