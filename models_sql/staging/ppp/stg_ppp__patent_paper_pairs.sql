select
    {{ normalize_patent_id('patent') }} as patent_id,
    {{ openalex_work_id('paperid') }} as work_id,
    ppp_score as score,
    daysdiffcont as days_to_filing
from {{ read_source('ppp', 'patent_paper_pairs') }}
