-- Papers that a family cites, once each: the year of the first publication that cites the paper
-- decides on confidence (the highest of that year) and location. Known once the family, that
-- publication and the paper are.
with citations as (
    select
        family_id,
        work_id,
        publication_year as citing_year,
        max(confscore) as confscore,
        case
            when count(distinct wherefound) = 1 then any_value(wherefound)
            when count(distinct wherefound) > 1 then 'both'
        end as wherefound
    from {{ ref('stg_families__european_families') }}
    where work_id is not null and publication_year is not null
    group by family_id, work_id, publication_year
    qualify row_number() over (
        partition by family_id, work_id order by publication_year
    ) = 1
)

select
    families.doc_id as citing_id,
    works.doc_id as cited_id,
    works.paper_id,
    greatest(
        families.known_year, citations.citing_year, works.known_year
    ) as known_year,
    citations.confscore,
    citations.wherefound
from citations
inner join {{ ref('int_european_families') }} as families
    on citations.family_id = families.family_id
inner join {{ ref('int_dated_works') }} as works on citations.work_id = works.work_id
where works.known_year is not null
order by known_year, citing_id, cited_id
