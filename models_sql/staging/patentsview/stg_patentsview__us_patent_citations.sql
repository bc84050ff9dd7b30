-- Day 00 means the month is all that is known: it becomes the first, as PatentsView's loader does.
select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    citation_sequence,
    {{ normalize_patent_id('citation_patent_id') }} as cited_patent_id,
    try_cast(regexp_replace(citation_date, '-00$', '-01') as date) as citation_date,
    lower(citation_category) as citation_category
from {{ read_source('patentsview', 'g_us_patent_citation') }}
