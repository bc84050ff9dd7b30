-- The queries drawn for same_initial_assignee, each with the other patents of its assignee. That
-- two patents have one assignee is known once both are granted.
{{ config(materialized='view') }}

select
    queries.query_id,
    other.doc_id,
    queries.task_year,
    greatest(queries.task_year, own.grant_year, other.grant_year) as label_year
from {{ ref('int_task_same_initial_assignee_queries') }} as queries
inner join {{ ref('int_task_initial_assignees') }} as own
    on queries.query_id = own.doc_id
inner join {{ ref('int_task_initial_assignees') }} as other
    on own.assignee_id = other.assignee_id and own.doc_id <> other.doc_id
where queries.is_drawn
