{% test node_numbers_are_prefixes(model) %}
-- the nodes of some year are not numbered 0..n-1
select cutoff, n_nodes, last_node
from (
    select
        years.known_year as cutoff,
        count(*) as n_nodes,
        min(nodes.node_id) as first_node,
        max(nodes.node_id) as last_node
    from (select distinct known_year from {{ model }}) as years
    inner join {{ model }} as nodes on nodes.known_year <= years.known_year
    group by years.known_year
)
where first_node <> 0 or last_node <> n_nodes - 1
{% endtest %}
