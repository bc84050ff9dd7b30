-- The date is read as text: day 00 and 0000-00-00 occur, and a citation is kept without a date.
select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    citation_sequence,
    {{ normalize_patent_id('citation_patent_id') }} as cited_patent_id,
    try_cast(citation_date as date) as citation_date,
    lower(citation_category) as citation_category
from {{ read_source('patentsview', 'g_us_patent_citation') }}
