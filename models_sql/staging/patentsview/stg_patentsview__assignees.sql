select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    assignee_sequence,
    assignee_id,
    disambig_assignee_organization as organization,
    assignee_type
from {{ read_source('patentsview', 'g_assignee_disambiguated') }}
