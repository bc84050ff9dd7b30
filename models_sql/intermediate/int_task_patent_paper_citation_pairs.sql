-- The queries drawn for patent_paper_citation, each with the papers that it cites.
{{ config(materialized='view') }}

select
    queries.query_id,
    citations.paper_id as doc_id,
    queries.task_year,
    greatest(queries.task_year, citations.grant_year, citations.publication_year)
        as label_year
from {{ ref('int_task_patent_paper_citation_queries') }} as queries
inner join {{ ref('int_task_paper_citations') }} as citations
    on queries.query_id = citations.patent_id
where queries.is_drawn
