select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    patent_abstract as abstract
from {{ read_source('patentsview', 'g_patent_abstract') }}
