-- A view: no mart reads it, so it is not stored a second time.
{{ config(materialized='view') }}
select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    cpc_sequence,
    upper(cpc_section) as cpc_section,
    cpc_class,
    cpc_subclass,
    cpc_group,
    lower(cpc_type) as cpc_type,
    cpc_version_indicator as cpc_version,
    try_cast(cpc_action_date as date) as cpc_action_date
from {{ read_source('patentsview', 'g_cpc_at_issue') }}
