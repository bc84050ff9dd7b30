select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    cpc_sequence,
    upper(cpc_section) as cpc_section,
    cpc_class,
    cpc_subclass,
    cpc_group,
    lower(cpc_type) as cpc_type
from {{ read_source('patentsview', 'g_cpc_current') }}
