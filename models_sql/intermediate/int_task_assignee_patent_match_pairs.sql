-- The assignees drawn for assignee_patent_match, each with its patents that were held out.
{{ config(materialized='view') }}

select
    queries.query_id,
    parts.doc_id,
    queries.task_year,
    greatest(queries.task_year, parts.grant_year) as label_year
from {{ ref('int_task_assignee_patent_match_queries') }} as queries
inner join {{ ref('int_task_assignee_patent_match_parts') }} as parts
    on queries.query_id = parts.query_id
where queries.is_drawn and parts.is_held_out
