-- The sample patents of every assignee that holds enough of them: held out as relevant, or part
-- of the query, which goes by the first of its patents in the order of the hash. A patent belongs
-- to the assignee listed first, so that no patent is part of two queries.
with first_listed as (
    select
        patent_id,
        assignee_id
    from {{ ref('stg_patentsview__assignees') }}
    qualify row_number() over (
        partition by patent_id order by assignee_sequence, assignee_id
    ) = 1
),

patents as (
    select
        sample.doc_id,
        sample.grant_year,
        first_listed.assignee_id,
        count(*) over (partition by first_listed.assignee_id) as n_patents,
        row_number() over (
            partition by first_listed.assignee_id
            order by
                {{ stable_rank('sample.doc_id', 'assignee_patent_match') }},
                sample.doc_id
        ) as place
    from {{ ref('int_task_common_patent_sample') }} as sample
    inner join {{ ref('int_patents') }} as patents on sample.doc_id = patents.doc_id
    inner join first_listed on patents.patent_id = first_listed.patent_id
    where first_listed.assignee_id is not null
)

select
    assignee_id,
    first_value(doc_id) over (partition by assignee_id order by place) as query_id,
    doc_id,
    grant_year,
    place > n_patents - floor(
        cast({{ var('match_held_out_share') }} as decimal(9, 6)) * n_patents
    ) as is_held_out
from patents
where n_patents >= {{ var('match_min_patents') }}
order by assignee_id, place
