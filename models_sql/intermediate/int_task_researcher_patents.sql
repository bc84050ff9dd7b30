-- Patents of the benchmark by Pasteur's-quadrant researchers that are matched well enough.
select
    patents.doc_id,
    patents.filing_year,
    patents.grant_year,
    researched.inventor_id,
    researched.author_id
from {{ ref('int_pqr_patents') }} as researched
inner join {{ ref('int_task_patents') }} as patents
    on researched.doc_id = patents.doc_id
where researched.confidence >= {{ var('min_researcher_confidence') }}
order by patents.doc_id, researched.inventor_id, researched.author_id
