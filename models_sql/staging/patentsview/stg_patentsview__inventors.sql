select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    inventor_sequence,
    inventor_id
from {{ read_source('patentsview', 'g_inventor_disambiguated') }}
