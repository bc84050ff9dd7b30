-- Works of Pasteur's-quadrant researchers, one row per OpenAlex work and matched person. A person
-- listed twice has the lower confidence.
with people as (
    select inventor_id, author_id, min(confidence) as confidence
    from {{ ref('stg_pqr__researchers') }}
    group by inventor_id, author_id
)

select distinct
    works.doc_id,
    works.paper_id,
    people.inventor_id,
    people.author_id,
    works.known_year,
    people.confidence
from people
inner join {{ ref('stg_pqr__author_works') }} as links
    on people.author_id = links.author_id
inner join {{ ref('int_dated_works') }} as works on links.work_id = works.work_id
order by works.known_year, works.doc_id, people.inventor_id, people.author_id
