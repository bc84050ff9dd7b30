-- One row per document with an edge, numbered by (first year with an edge, doc_id): the year-y
-- graph is nodes 0..n_y-1 for every y, so one numbering serves all vintages.
with ends as (
    select citing_id as doc_id, known_year
    from {{ ref('citation_edges') }}

    union all

    select cited_id as doc_id, known_year
    from {{ ref('citation_edges') }}
),

first_years as (
    select doc_id, min(known_year) as known_year
    from ends
    group by doc_id
)

select
    row_number() over (
        order by first_years.known_year, first_years.doc_id
    ) - 1 as node_id,
    first_years.doc_id,
    documents.doc_type,
    first_years.known_year
from first_years
inner join {{ ref('documents') }} as documents
    on first_years.doc_id = documents.doc_id
order by node_id
