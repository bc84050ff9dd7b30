with patents as (
    select
        *,
        {{ normalize_patent_id('patent_id') }} as number
    from {{ read_source('patentsview', 'g_patent') }}
)

select
    number as patent_id,
    {{ patent_doc_id('number') }} as doc_id,
    patent_type,
    patent_date as grant_date,
    {{ plausible_year('year(patent_date)') }} as grant_year,
    patent_title as title,
    coalesce(withdrawn, 0) as withdrawn,
    wipo_kind,
    num_claims,
    -- Some reissues are typed utility, hence the digits (PatentsView, table g_patent).
    coalesce(patent_type = 'utility', false)
    and coalesce(withdrawn, 0) = 0
    and regexp_full_match(number, '[0-9]+') as is_utility
from patents
