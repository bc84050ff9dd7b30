-- A view: no mart reads it, so it is not stored a second time.
{{ config(materialized='view') }}
select
    pgpub_id,
    inventor_sequence,
    inventor_id
from {{ read_source('patentsview', 'pg_inventor_disambiguated') }}
