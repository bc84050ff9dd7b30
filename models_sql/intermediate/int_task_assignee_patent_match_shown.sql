-- The patents whose mean is a query that was drawn, whatever became of it.
{{ config(materialized='view') }}

select
    parts.query_id,
    parts.doc_id
from {{ ref('int_task_assignee_patent_match_parts') }} as parts
inner join {{ ref('int_task_assignee_patent_match_queries') }} as queries
    on parts.query_id = queries.query_id
where queries.is_drawn and not parts.is_held_out
