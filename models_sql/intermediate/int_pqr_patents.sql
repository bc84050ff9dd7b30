-- Patents of Pasteur's-quadrant researchers, one row per patent and matched person. A person
-- listed twice has the lower confidence.
with people as (
    select inventor_id, author_id, min(confidence) as confidence
    from {{ ref('stg_pqr__researchers') }}
    group by inventor_id, author_id
)

select distinct
    patents.doc_id,
    people.inventor_id,
    people.author_id,
    patents.known_year,
    people.confidence
from people
inner join {{ ref('stg_pqr__inventor_patents') }} as links
    on people.inventor_id = links.inventor_id
inner join {{ ref('int_patents') }} as patents on links.patent_id = patents.patent_id
order by patents.known_year, patents.doc_id, people.inventor_id, people.author_id
