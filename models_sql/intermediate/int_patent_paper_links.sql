-- Patent-to-paper references as Reliance on Science gives them, each end looked up in this lake:
-- its patent number, and its OpenAlex work -> DOI -> Semantic Scholar paper. An end that is not
-- found is null and counted in audit.unmatched.
with links as (
    select distinct patent_id, work_id
    from {{ ref('stg_ros__patent_to_paper') }}
    -- A link of unknown confidence counts as one of the lowest.
    where
        is_us
        and patent_id is not null
        and coalesce(confscore, 1) >= {{ var('min_confscore') }}
),

works as (
    select work_id, min(doi) as doi
    from {{ ref('stg_openalex__works') }}
    group by work_id
)

select
    links.patent_id,
    links.work_id,
    patents.doc_id as citing_id,
    works.work_id is not null as has_work,
    works.doi,
    papers.doc_id as cited_id
from links
left join {{ ref('int_patents') }} as patents
    on links.patent_id = patents.patent_id
left join works on links.work_id = works.work_id
left join {{ ref('int_doi_papers') }} as papers on works.doi = papers.doi
