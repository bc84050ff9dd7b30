-- One row per OpenAlex work, with the Semantic Scholar paper of its DOI, whose year dates it; a
-- work without such a paper is dated by its own year. Of several records of a work the one known
-- first wins, then the one of the lowest paper.
with records as (
    select
        works.work_id,
        works.doc_id,
        papers.doc_id as paper_id,
        coalesce(papers.known_year, works.publication_year) as known_year
    from {{ ref('stg_openalex__works') }} as works
    left join {{ ref('int_doi_papers') }} as papers on works.doi = papers.doi
)

select work_id, doc_id, paper_id, known_year
from records
qualify row_number() over (
    partition by work_id order by known_year nulls last, paper_id nulls last
) = 1
