-- Which ids are one work: papers and OpenAlex works of one DOI, publications and grants of one
-- application. A work goes by the id that was known first, then the lowest; that id has no row
-- of its own (work of d: coalesce(work_id, d)), since a row for it would tell of later ones.
with members as (
    select doc_id, known_year, 'doi ' || doi as work_key, 'doi' as via
    from {{ ref('int_papers') }}
    where doi is not null and known_year is not null

    union all

    select
        doc_id,
        publication_year as known_year,
        'doi ' || doi as work_key,
        'doi' as via
    from {{ ref('stg_openalex__works') }}
    where doi is not null and publication_year is not null

    union all

    -- Two publications name their application themselves: no later grant has to join them.
    select
        doc_id,
        filing_year as known_year,
        'application ' || application_id as work_key,
        'application' as via
    from {{ ref('int_publications') }}

    union all

    select
        patent_doc_id as doc_id,
        greatest(filing_year, grant_year) as known_year,
        'application ' || application_id as work_key,
        'crosswalk' as via
    from {{ ref('int_pgpub_grants') }}
    where grant_year is not null
),

works as (
    select doc_id, via, work_key, min(known_year) as known_year
    from members
    group by doc_id, via, work_key
),

named as (
    select
        doc_id,
        via,
        known_year,
        first_value(doc_id) over first_known as work_id,
        first_value(known_year) over first_known as work_year
    from works
    window
        first_known as (partition by work_key order by known_year, doc_id)
)

-- The id of the work is known first, so the later of the two dates is the document's own.
select doc_id, work_id, via, known_year
from named
where doc_id <> work_id
qualify row_number() over (partition by doc_id order by work_year, work_id) = 1
order by known_year, doc_id, work_id
