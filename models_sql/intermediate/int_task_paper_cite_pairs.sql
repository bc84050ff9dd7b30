-- Every eligible query of paper_cite with each of its relevant documents: a paper that cites at
-- least min_cited papers of the lake, and those it cites. A view: at full size the edges are
-- hundreds of millions, and they stand in the graph already.
{{ config(materialized='view') }}

with counted as (
    select
        citing_id,
        cited_id,
        known_year,
        count(*) over (partition by citing_id) as n_cited
    from {{ ref('citation_edges') }}
    where edge_type = 'paper_paper'
)

select
    counted.citing_id as query_id,
    counted.cited_id as doc_id,
    documents.known_year as task_year,
    counted.known_year as label_year
from counted
inner join {{ ref('documents') }} as documents on counted.citing_id = documents.doc_id
where counted.n_cited >= {{ var('min_cited') }}
