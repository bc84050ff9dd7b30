-- A view: no mart reads it, so it is not stored a second time.
{{ config(materialized='view') }}
select
    pgpub_id,
    assignee_sequence,
    assignee_id,
    disambig_assignee_organization as organization,
    assignee_type
from {{ read_source('patentsview', 'pg_assignee_disambiguated') }}
