-- The documents with an edge by the end of a year: nodes 0..n-1, in order of node_id.
{{ config(materialized='asof_function', parameters=['cutoff integer']) }}
select
    node_id,
    doc_id,
    doc_type,
    known_year
from {{ ref('graph_nodes') }}
where known_year <= {{ checked_cutoff() }}
