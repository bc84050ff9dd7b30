-- One row per cutoff: documents, nodes (documents with an edge) and edges of the year-y graph.
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
)

select
    years.cutoff,
    {% for column, kind in {
        'papers': "kind = 'paper'", 'patents': "kind = 'patent'", 'nodes': "kind = 'node'",
        'edges': "kind like '%\\_%' escape '\\'", 'paper_paper': "kind = 'paper_paper'",
        'patent_patent': "kind = 'patent_patent'", 'patent_paper': "kind = 'patent_paper'",
    }.items() -%}
    cast(coalesce(sum(n) filter (where {{ kind }}), 0) as bigint) as {{ column }}{{ "," if not loop.last }}
    {% endfor %}
from years
left join counts on years.cutoff >= counts.known_year
group by years.cutoff
order by years.cutoff
