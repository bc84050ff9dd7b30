{% test anchors_are_nodes(model, nodes, edges) %}
-- an anchor is not a node of its slice, stands there twice, or is in a pool it does not belong to
{% set first_year, last_year = lake_span_years() %}
{% for year in range(first_year, last_year + 1) %}
select {{ year }} as cutoff, anchors.doc_id
from {{ model }}({{ year }}) as anchors
left join {{ nodes }}({{ year }}) as nodes
    on anchors.doc_id = nodes.doc_id and anchors.node_id = nodes.node_id
where
    nodes.doc_id is null
    or anchors.doc_type <> case anchors.pool when 'paper' then 'paper' else 'patent' end
    or (
        anchors.pool = 'patent_citing_paper'
        and anchors.doc_id not in (
            select citing_id from {{ edges }}({{ year }}) where edge_type = 'patent_paper'
        )
    )
union all
select {{ year }} as cutoff, doc_id
from {{ model }}({{ year }})
group by doc_id
having count(*) > 1
{{ "union all" if not loop.last }}
{% endfor %}
{% endtest %}
