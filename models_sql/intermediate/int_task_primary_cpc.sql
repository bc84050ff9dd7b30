-- The primary CPC of a patent: the row of lowest sequence whose section is A-H. Section Y and
-- anything else only tags a patent, so it is never primary.
with candidates as (
    select
        patents.doc_id,
        cpc.cpc_section,
        row_number() over (
            partition by patents.doc_id
            order by cpc.cpc_sequence, cpc.cpc_section
        ) as cpc_rank
    from {{ ref('stg_patentsview__cpc_current') }} as cpc
    inner join {{ ref('int_patents') }} as patents
        on cpc.patent_id = patents.patent_id
    where
        patents.is_utility
        and cpc.cpc_section in ('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H')
)

select
    doc_id,
    cpc_section
from candidates
where cpc_rank = 1
order by doc_id
