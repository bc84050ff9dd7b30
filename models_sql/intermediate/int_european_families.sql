-- One row per patent family, represented by one publication. The year known first decides, and only
-- inside the first year in which a publication has title and abstract do the offices compete in
-- the published order, then the lower application: a later publication changes nothing.
with publications as (
    select distinct
        family_id, doc_id, office, publication, application_id, publication_date,
        publication_year, title, abstract
    from {{ ref('stg_families__european_families') }}
    where publication_year is not null
),

first_seen as (
    select family_id, min(publication_year) as public_year
    from publications
    group by family_id
)

select
    publications.doc_id,
    publications.family_id,
    publications.publication_year as known_year,
    first_seen.public_year,
    publications.office,
    publications.publication,
    publications.title,
    publications.abstract
from publications
inner join first_seen on publications.family_id = first_seen.family_id
where {{ has_text('title') }} and {{ has_text('abstract') }}
qualify
    row_number() over (
        partition by publications.family_id
        order by
            publications.publication_year,
            {{ office_rank('publications.office') }},
            publications.application_id,
            publications.publication_date,
            publications.publication,
            publications.title,
            md5(publications.abstract)
    ) = 1
order by known_year, publications.doc_id
