{% test malformed_share(model) %}
-- too many rows of the raw table behind this staging model did not arrive
{%- if execute -%}
{%- set staged = graph.nodes.values() | selectattr("resource_type", "equalto", "model")
    | selectattr("name", "equalto", model.identifier) | first -%}
{%- set raw = raw_table_of(staged) %}
with rejected as (
    select count(distinct (file, line)) as n_rejected
    from quarantine.{{ raw.id }}
    where counts
),

kept as (
    select coalesce(sum(n_rows), 0) as n_kept
    from quarantine.rows_read
    where source = '{{ raw.source }}' and table_name = '{{ raw.name }}'
)

select n_rejected, n_kept, n_rejected / (n_rejected + n_kept) as share
from rejected
cross join kept
where
    n_rejected > {{ var("malformed_rows_tolerated") }}
    and n_rejected > {{ var("max_malformed_share") }} * (n_rejected + n_kept)
{%- endif -%}
{% endtest %}
