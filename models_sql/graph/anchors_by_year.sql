-- Anchors at each cutoff of the reports, by pool: how many there were to draw from and how many
-- were drawn, as graph.anchors_asof draws them. A patent that both patent pools drew is counted
-- where it is kept, in the citing one.
with drawn as (
    {% for cutoff in report_cutoffs() %}
        select {{ cutoff }} as cutoff, pool, count(*) as n_drawn
        from {{ ref('anchors_asof') }}({{ cutoff }})
        group by pool
        {{ "union all" if not loop.last }}
    {% endfor %}
),

citing as (
    select citing_id as doc_id, min(known_year) as known_year
    from {{ ref('citation_edges') }}
    where edge_type = 'patent_paper'
    group by citing_id
),

eligible as (
    select doc_type as pool, known_year
    from {{ ref('graph_nodes') }}

    union all

    select 'patent_citing_paper' as pool, known_year
    from citing
)

select
    drawn.cutoff,
    drawn.pool,
    count(eligible.pool) as n_eligible,
    any_value(drawn.n_drawn) as n_drawn
from drawn
inner join eligible
    on drawn.pool = eligible.pool and drawn.cutoff >= eligible.known_year
group by drawn.cutoff, drawn.pool
order by drawn.cutoff, drawn.pool
