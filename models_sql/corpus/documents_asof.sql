-- The documents known by the end of a year.
{{ config(materialized='asof_function', parameters=['cutoff integer']) }}
select
    doc_id,
    doc_uri,
    doc_type,
    known_year,
    filing_year,
    title,
    abstract
from {{ ref('documents') }}
where known_year <= {{ checked_cutoff() }}
