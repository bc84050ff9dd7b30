-- The patents of the assignees that same_initial_assignee keeps: those that hold at least
-- min_assignee_patents and at most max_assignee_patents, so that none of the largest dominates.
with patents as (
    select
        patents.doc_id,
        patents.grant_year,
        patents.filing_year,
        firms.assignee_id,
        count(*) over (partition by firms.assignee_id) as n_patents
    from {{ ref('int_task_patents') }} as patents
    inner join {{ ref('int_patent_firms') }} as firms on patents.doc_id = firms.doc_id
    where patents.filing_year is not null and firms.assignee_id is not null
)

select
    doc_id,
    grant_year,
    filing_year,
    assignee_id
from patents
where
    n_patents >= {{ var('min_assignee_patents') }}
    and n_patents <= {{ var('max_assignee_patents') }}
order by filing_year, doc_id
