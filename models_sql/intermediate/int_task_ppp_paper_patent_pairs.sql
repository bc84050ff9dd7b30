-- The queries drawn for ppp_paper_patent, each with the patents that it is paired with.
{{ config(materialized='view') }}

select
    queries.query_id,
    pairs.patent_id as doc_id,
    queries.task_year,
    greatest(queries.task_year, pairs.grant_year) as label_year
from {{ ref('int_task_ppp_paper_patent_queries') }} as queries
inner join {{ ref('int_task_patent_paper_pairs') }} as pairs
    on queries.query_id = pairs.paper_id
where queries.is_drawn and pairs.score >= {{ var('min_pair_score') }}
