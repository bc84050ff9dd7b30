-- Papers of the benchmark by Pasteur's-quadrant researchers that are matched well enough.
select
    papers.doc_id,
    papers.publication_year,
    researched.inventor_id,
    researched.author_id
from {{ ref('int_pqr_works') }} as researched
inner join {{ ref('int_task_linked_papers') }} as papers
    on researched.doc_id = papers.doc_id
where researched.confidence >= {{ var('min_researcher_confidence') }}
order by papers.doc_id, researched.inventor_id, researched.author_id
