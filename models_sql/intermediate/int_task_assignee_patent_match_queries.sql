-- Every assignee that could be a query of assignee_patent_match, dated by the latest patent of the
-- query, and whether it was drawn: match_assignees of them in the order of their hash.
with assignees as (
    select
        assignee_id,
        query_id,
        max(grant_year) as task_year
    from {{ ref('int_task_assignee_patent_match_parts') }}
    where not is_held_out
    group by assignee_id, query_id
),

ranked as (
    select
        query_id,
        task_year,
        row_number() over (
            order by
                {{ stable_rank('assignee_id', 'query:assignee_patent_match') }},
                assignee_id
        ) as query_rank
    from assignees
)

select
    query_id,
    task_year,
    case when query_rank <= {{ var('match_assignees') }} then query_rank end
        as query_rank,
    query_rank <= {{ var('match_assignees') }} as is_drawn,
    false as is_extra
from ranked
order by task_year, query_id
