-- Which ids are one work: merged ids of Semantic Scholar, papers and OpenAlex works of one DOI,
-- publications and grants of one application. A work goes by the id that was first known to belong
-- to it, then the lowest; that id has no row of its own (work of d: coalesce(work_id, d)), since a
-- row for it would tell of later ones.
with merged as (
    select corpus_id, doc_id, known_year
    from {{ ref('int_merged_ids') }}
),

members as (
    -- A record of a merged id ties its paper to the DOI, from the record's own year on.
    select
        coalesce(merged.doc_id, papers.corpus_id) as doc_id,
        papers.year as known_year,
        'doi ' || papers.doi as work_key,
        'doi' as via
    from {{ ref('stg_s2ag__papers') }} as papers
    left join merged on papers.corpus_id = merged.corpus_id
    where papers.doi is not null and papers.year is not null

    union all

    select
        doc_id,
        publication_year as known_year,
        'doi ' || doi as work_key,
        'doi' as via
    from {{ ref('stg_openalex__works') }}
    where doi is not null and publication_year is not null

    union all

    select
        corpus_id as doc_id,
        known_year,
        'paper ' || doc_id as work_key,
        'merged' as via
    from merged
    where known_year is not null

    union all

    select
        doc_id,
        known_year,
        'paper ' || doc_id as work_key,
        'merged' as via
    from {{ ref('int_papers') }}
    where
        known_year is not null
        and doc_id in (select merged.doc_id from merged)

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
),

-- The id of the work was tied to it first, so the later of the two dates is the document's own.
others as (
    select doc_id, work_id, via, known_year
    from named
    where doc_id <> work_id
    qualify row_number() over (
        partition by doc_id order by known_year, work_year, work_id
    ) = 1
)

-- A work whose id is another form of an earlier one goes by that one, where this was known by then.
select
    others.doc_id,
    coalesce(earlier.work_id, others.work_id) as work_id,
    others.via,
    others.known_year
from others
left join others as earlier
    on
        others.work_id = earlier.doc_id
        and others.known_year >= earlier.known_year
        and others.via = 'merged'
order by others.known_year, others.doc_id, work_id
