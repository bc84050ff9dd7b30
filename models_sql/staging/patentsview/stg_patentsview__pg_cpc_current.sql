-- A view: no mart reads it, so it is not stored a second time.
{{ config(materialized='view') }}
select
    pgpub_id,
    cpc_sequence,
    upper(cpc_section) as cpc_section,
    cpc_class,
    cpc_subclass,
    cpc_group,
    lower(cpc_type) as cpc_type
from {{ read_source('patentsview', 'pg_cpc_current') }}
