-- How large each task came out, beside the paper's.
{{ config(materialized='table') }}

select
    'common_patent_sample' as task,
    'sample' as format,
    count(*) as n_examples,
    cast(null as bigint) as n_train,
    cast(null as bigint) as n_test,
    cast(null as bigint) as n_queries,
    cast(null as bigint) as n_relevant,
    cast(null as bigint) as n_corpus,
    cast(1301889 as bigint) as paper_size,
    min(grant_year) as first_year,
    max(grant_year) as last_year
from {{ ref('int_task_common_patent_sample') }}
{% for task in task_catalog() %}
    union all
    select
        '{{ task.name }}' as task,
        '{{ task.format }}' as format,
        {% if task.format == 'retrieve' %}
            null as n_examples,
            null as n_train,
            null as n_test,
            count(distinct query_id) as n_queries,
            count(*) as n_relevant,
            (select count(*) from {{ ref('corpus_' ~ task.name) }}) as n_corpus,
        {% else %}
            count(*) as n_examples,
            count(*) filter (where split = 'train') as n_train,
            count(*) filter (where split = 'test') as n_test,
            null as n_queries,
            null as n_relevant,
            null as n_corpus,
        {% endif %}
        {{ 'null' if task.paper_size is none else task.paper_size }} as paper_size,
        min(task_year) as first_year,
        max(task_year) as last_year
    from {{ ref('task_' ~ task.name) }}
{% endfor %}
