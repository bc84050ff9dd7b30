-- The kind of the assignee that a sample patent lists first. PatentsView's types are 2 and 3 for
-- companies, 4 and 5 for individuals, 6 to 9 for governments; a leading 1 is a part interest.
-- Universities and other non-profits are companies there: it does not tell them apart.
with first_listed as (
    select
        patent_id,
        assignee_type % 10 as kind
    from {{ ref('stg_patentsview__assignees') }}
    qualify row_number() over (
        partition by patent_id
        order by assignee_sequence, assignee_id, assignee_type
    ) = 1
),

examples as (
    select
        sample.doc_id,
        sample.grant_year as task_year,
        case
            when first_listed.kind in (2, 3) then 'firm'
            when first_listed.kind in (4, 5) then 'individual'
            when first_listed.kind between 6 and 9 then 'government_nonprofit'
        end as label
    from first_listed
    inner join {{ ref('int_patents') }} as patents
        on first_listed.patent_id = patents.patent_id
    inner join {{ ref('int_task_common_patent_sample') }} as sample
        on patents.doc_id = sample.doc_id
)

select
    doc_id,
    task_year,
    task_year as label_year,
    label,
    {{ task_split('doc_id', 'task_year', 'assignee_type') }} as split
from examples
where label is not null
order by task_year, doc_id
