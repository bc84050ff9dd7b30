select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    {{ normalize_application_id('application_id') }} as application_id,
    filing_date,
    {{ plausible_year('year(filing_date)') }} as filing_year
from {{ read_source('patentsview', 'g_application') }}
