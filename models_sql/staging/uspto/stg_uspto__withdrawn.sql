select {{ normalize_patent_id('patent_id') }} as patent_id
from {{ read_source('uspto', 'withdrawn') }}
