-- Where the id of a merged OpenAlex work leads: to the end of its chain of merges. A circle has no
-- end, and its ids stay what they are.
with recursive chains as (
    select
        work_id,
        into_work_id
    from {{ ref('stg_openalex__merged_ids') }}

    union

    select
        chains.work_id,
        merged.into_work_id
    from chains
    inner join {{ ref('stg_openalex__merged_ids') }} as merged
        on chains.into_work_id = merged.work_id
)

select
    work_id,
    min(into_work_id) as current_work_id
from chains
where
    into_work_id not in (
        select merged.work_id from {{ ref('stg_openalex__merged_ids') }} as merged
    )
group by work_id
order by work_id
