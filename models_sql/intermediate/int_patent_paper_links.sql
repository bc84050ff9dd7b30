-- Patent-to-paper references as Reliance on Science gives them, each end looked up in this lake:
-- its patent number, and its OpenAlex work -> DOI -> Semantic Scholar paper. An end that is not
-- found is null and counted in audit.unmatched. Records of a work that OpenAlex merged into another
-- are those of either. Of several records of a work, with several DOIs, the one whose paper was
-- known first counts.
with recursive links as (
    select distinct patent_id, work_id
    from {{ ref('stg_ros__patent_to_paper') }}
    -- A link of unknown confidence counts as one of the lowest.
    where
        is_us
        and patent_id is not null
        and coalesce(confscore, 1) >= {{ var('min_confscore') }}
),

-- A work, and where its id leads; union stops at a circle.
records_of as (
    select work_id, work_id as record_id
    from links

    union

    select records_of.work_id, merged.into_work_id as record_id
    from records_of
    inner join {{ ref('stg_openalex__merged_ids') }} as merged
        on records_of.record_id = merged.work_id
),

works as (
    select records_of.work_id, records.doi, papers.doc_id, papers.known_year
    from records_of
    inner join {{ ref('stg_openalex__works') }} as records
        on records_of.record_id = records.work_id
    left join {{ ref('int_doi_papers') }} as papers on records.doi = papers.doi
    qualify row_number() over (
        partition by records_of.work_id
        order by papers.known_year nulls last, papers.doc_id nulls last, records.doi
    ) = 1
)

select
    links.patent_id,
    links.work_id,
    patents.doc_id as citing_id,
    works.work_id is not null as has_work,
    works.doi,
    works.doc_id as cited_id,
    works.known_year as link_year
from links
left join {{ ref('int_patents') }} as patents
    on links.patent_id = patents.patent_id
left join works on links.work_id = works.work_id
