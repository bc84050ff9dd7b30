-- The queries drawn for papers_cocite, each with the papers that at least min_cociting distinct
-- patents cite together with it.
{{ config(materialized='view') }}

select
    queries.query_id,
    other.paper_id as doc_id,
    queries.task_year,
    -- The pair is known to be co-cited once the last of the patents it takes is granted.
    greatest(
        queries.task_year,
        other.publication_year,
        min(other.grant_year, {{ var('min_cociting') }})[{{ var('min_cociting') }}]
    ) as label_year
from {{ ref('int_task_papers_cocite_queries') }} as queries
inner join {{ ref('int_task_paper_citations') }} as own
    on queries.query_id = own.paper_id
inner join {{ ref('int_task_paper_citations') }} as other
    on own.patent_id = other.patent_id and own.paper_id <> other.paper_id
where queries.is_drawn
group by queries.query_id, other.paper_id, queries.task_year, other.publication_year
having count(*) >= {{ var('min_cociting') }}
