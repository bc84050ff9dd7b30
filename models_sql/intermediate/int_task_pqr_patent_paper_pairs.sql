-- The queries drawn for pqr_patent_paper, each with the papers of its researchers.
{{ config(materialized='view') }}

select distinct
    queries.query_id,
    papers.doc_id,
    queries.task_year,
    greatest(queries.task_year, patents.grant_year, papers.publication_year)
        as label_year
from {{ ref('int_task_pqr_patent_paper_queries') }} as queries
inner join {{ ref('int_task_researcher_patents') }} as patents
    on queries.query_id = patents.doc_id
inner join {{ ref('int_task_researcher_papers') }} as papers
    on
        patents.inventor_id = papers.inventor_id
        and patents.author_id = papers.author_id
where queries.is_drawn
