-- The confidence is the share of compared documents that match; where it is absent it is computed.
select
    {{ openalex_author_id('author_id') }} as author_id,
    inventor_id,
    coalesce(confidence, n_matches / nullif(n_comparisons, 0)) as confidence,
    n_comparisons,
    n_matches
from {{ read_source('pqr', 'pqrs_dataset') }}
