-- The queries drawn for pqr_paper_patent, each with the patents of its researchers.
{{ config(materialized='view') }}

select distinct
    queries.query_id,
    patents.doc_id,
    queries.task_year,
    greatest(queries.task_year, patents.grant_year) as label_year
from {{ ref('int_task_pqr_paper_patent_queries') }} as queries
inner join {{ ref('int_task_researcher_papers') }} as papers
    on queries.query_id = papers.doc_id
inner join {{ ref('int_task_researcher_patents') }} as patents
    on
        papers.inventor_id = patents.inventor_id
        and papers.author_id = patents.author_id
where queries.is_drawn
