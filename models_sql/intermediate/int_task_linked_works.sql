-- OpenAlex works that are linked to a US patent: cited by one, in a pair with one, or by a
-- Pasteur's-quadrant researcher (paper, Appendix B.4). Merged works count as what they are now.
with named as (
    select work_id
    from {{ ref('int_patent_paper_links') }}
    where citing_id is not null

    union

    select work_id
    from {{ ref('int_patent_paper_pairs') }}
    where patent_doc_id is not null

    union

    select works.work_id
    from {{ ref('int_pqr_works') }} as researched
    inner join {{ ref('int_dated_works') }} as works
        on researched.doc_id = works.doc_id
)

select
    named.work_id,
    coalesce(merged.current_work_id, named.work_id) as current_work_id
from named
left join {{ ref('int_current_works') }} as merged on named.work_id = merged.work_id
order by named.work_id
