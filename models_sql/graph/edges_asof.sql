-- The citation graph at the end of a year, in order (known_year, citing_id, cited_id).
{{ config(materialized='asof_function', parameters=['cutoff integer']) }}
select
    citing_id,
    cited_id,
    edge_type,
    known_year
from {{ ref('citation_edges') }}
where known_year <= {{ checked_cutoff() }}
