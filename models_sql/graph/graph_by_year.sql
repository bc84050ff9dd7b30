-- One row per cutoff: documents, nodes (documents with an edge) and edges of its graph.
with years as (
    select cast(unnest(range(first_year, last_year + 1)) as integer) as cutoff
    from {{ ref('lake_span') }}
),

counts as (
    select known_year, doc_type as kind, count(*) as n
    from {{ ref('documents') }}
    group by known_year, doc_type

    union all

    select known_year, 'node' as kind, count(*) as n
    from {{ ref('graph_nodes') }}
    group by known_year

    union all

    select known_year, edge_type as kind, count(*) as n
    from {{ ref('citation_edges') }}
    group by known_year, edge_type
),

sums as (
    select
        years.cutoff,
        coalesce(sum(n) filter (where kind = 'paper'), 0) as papers,
        coalesce(sum(n) filter (where kind = 'patent'), 0) as patents,
        coalesce(sum(n) filter (where kind = 'node'), 0) as nodes,
        coalesce(sum(n) filter (where kind = 'paper_paper'), 0) as paper_paper,
        coalesce(sum(n) filter (where kind = 'patent_patent'), 0) as patent_patent,
        coalesce(sum(n) filter (where kind = 'patent_paper'), 0) as patent_paper
    from years
    left join counts on years.cutoff >= counts.known_year
    group by years.cutoff
)

select
    cutoff,
    cast(papers as bigint) as papers,
    cast(patents as bigint) as patents,
    cast(nodes as bigint) as nodes,
    cast(paper_paper + patent_patent + patent_paper as bigint) as edges,
    cast(paper_paper as bigint) as paper_paper,
    cast(patent_patent as bigint) as patent_patent,
    cast(patent_paper as bigint) as patent_paper
from sums
order by cutoff
