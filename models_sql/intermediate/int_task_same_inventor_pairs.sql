-- The queries drawn for same_inventor, each with the other sample patents of its inventors.
{{ config(materialized='view') }}

select distinct
    queries.query_id,
    other.doc_id,
    queries.task_year,
    greatest(queries.task_year, other.grant_year) as label_year
from {{ ref('int_task_same_inventor_queries') }} as queries
inner join {{ ref('int_task_sample_inventors') }} as own
    on queries.query_id = own.doc_id
inner join {{ ref('int_task_sample_inventors') }} as other
    on own.inventor_id = other.inventor_id and own.doc_id <> other.doc_id
where queries.is_drawn
