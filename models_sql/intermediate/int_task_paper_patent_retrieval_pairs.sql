-- The queries drawn for paper_patent_retrieval, each with the patents that cite it.
{{ config(materialized='view') }}

select
    queries.query_id,
    citations.patent_id as doc_id,
    queries.task_year,
    greatest(queries.task_year, citations.grant_year) as label_year
from {{ ref('int_task_paper_patent_retrieval_queries') }} as queries
inner join {{ ref('int_task_paper_citations') }} as citations
    on queries.query_id = citations.paper_id
where queries.is_drawn
