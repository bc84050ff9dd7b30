-- How large each task came out, beside the paper's, and which absent source it waits for.
{{ config(materialized='table') }}
{% set tasks = task_catalog() %}

with published (task, format, paper_size) as (
    values
    {{ task_published_rows(task_catalog()) }}
),

examples as (
    select 'common_patent_sample' as task, grant_year as task_year, null as split
    from {{ ref('int_task_common_patent_sample') }}
    {% for task in tasks if task.format != 'retrieve' %}
        union all
        select '{{ task.name }}' as task, task_year, split
        from {{ ref('task_' ~ task.name) }}
    {% endfor %}
),

pairs as (
    {% for task in tasks if task.format == 'retrieve' %}
        select '{{ task.name }}' as task, task_year, query_id
        from {{ ref('task_' ~ task.name) }}
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

corpora as (
    {% for task in tasks if task.format == 'retrieve' %}
        select '{{ task.name }}' as task, count(*) as n_corpus
        from {{ ref('corpus_' ~ task.name) }}
        {{ 'union all' if not loop.last }}
    {% endfor %}
),

counted_examples as (
    select
        task,
        count(*) as n_examples,
        count(*) filter (where split = 'train') as n_train,
        count(*) filter (where split = 'test') as n_test,
        min(task_year) as first_year,
        max(task_year) as last_year
    from examples
    group by task
),

counted_pairs as (
    select
        task,
        count(distinct query_id) as n_queries,
        count(*) as n_relevant,
        min(task_year) as first_year,
        max(task_year) as last_year
    from pairs
    group by task
),

-- A source says itself which tasks it switches on.
absent as (
    select
        unnest(string_split(switches_on, ', ')) as task,
        source || '.' || table_name as absent_table
    from {{ ref('sources') }}
    where not present
),

waiting as (
    select
        task,
        string_agg(absent_table, ', ' order by absent_table) as lacks
    from absent
    group by task
)

select
    published.task,
    published.format,
    case
        when published.format <> 'retrieve' then coalesce(labels.n_examples, 0)
    end as n_examples,
    case
        when published.format in ('classify', 'regress')
            then coalesce(labels.n_train, 0)
    end as n_train,
    case
        when published.format in ('classify', 'regress')
            then coalesce(labels.n_test, 0)
    end as n_test,
    case
        when published.format = 'retrieve' then coalesce(queries.n_queries, 0)
    end as n_queries,
    case
        when published.format = 'retrieve' then coalesce(queries.n_relevant, 0)
    end as n_relevant,
    corpora.n_corpus,
    cast(published.paper_size as bigint) as paper_size,
    coalesce(labels.first_year, queries.first_year) as first_year,
    coalesce(labels.last_year, queries.last_year) as last_year,
    waiting.lacks
from published
left join counted_examples as labels on published.task = labels.task
left join counted_pairs as queries on published.task = queries.task
left join corpora on published.task = corpora.task
left join waiting on published.task = waiting.task
