-- What the draw of each retrieval task cost: how many could be a query, how many became one, and
-- how many relevant documents were lost to the rule that no query is in the corpus.
{{ config(materialized='table') }}
{% set tasks = task_catalog() | selectattr('format', 'equalto', 'retrieve') | list %}

with eligible as (
    {% for task in tasks %}
        select
            '{{ task.name }}' as task,
            {% if task.draws_first %}
                count(*) as n_eligible,
                count(*) filter (where is_drawn) as n_drawn
            from {{ ref('int_task_' ~ task.name ~ '_queries') }}
            {% else %}
                count(distinct query_id) as n_eligible,
                null as n_drawn
            from {{ ref('int_task_' ~ task.name ~ '_pairs') }}
            {% endif %}
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

pairs as (
    {% for task in tasks %}
        select '{{ task.name }}' as task, query_id, fate
        from {{ ref('int_task_' ~ task.name) }}
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

counted as (
    select
        task,
        count(distinct query_id) as n_drawn,
        count(distinct query_id) filter (where fate = 'released') as n_released,
        count(distinct query_id) filter (where fate = 'corpus_full') as n_dropped,
        count(distinct query_id) filter (where fate = 'kept') as n_queries,
        count(*) filter (where fate <> 'released') as n_pairs,
        count(*) filter (where fate = 'relevant_is_query') as n_pairs_lost_to_queries,
        count(*) filter (where fate = 'corpus_full') as n_pairs_dropped,
        count(*) filter (where fate = 'kept') as n_pairs_kept
    from pairs
    group by task
)

select
    eligible.task,
    eligible.n_eligible,
    coalesce(eligible.n_drawn, counted.n_drawn, 0) as n_drawn,
    coalesce(counted.n_released, 0) as n_released,
    coalesce(counted.n_dropped, 0) as n_dropped,
    coalesce(counted.n_queries, 0) as n_queries,
    coalesce(counted.n_pairs, 0) as n_pairs,
    coalesce(counted.n_pairs_lost_to_queries, 0) as n_pairs_lost_to_queries,
    coalesce(counted.n_pairs_dropped, 0) as n_pairs_dropped,
    coalesce(counted.n_pairs_kept, 0) as n_pairs_kept
from eligible
left join counted on eligible.task = counted.task
order by eligible.task
