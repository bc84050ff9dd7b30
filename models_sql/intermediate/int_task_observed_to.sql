-- The last year that each source of labels has observed to its end. Unless the setting names it,
-- it is the last year in whose December the source still has a record: a year that breaks off
-- has open windows, and a label whose window is open does not exist.
with citing as (
    select max(patents.grant_date) as last_date
    from {{ ref('stg_patentsview__us_patent_citations') }} as citations
    inner join {{ ref('int_patents') }} as patents
        on citations.patent_id = patents.patent_id
    where patents.is_utility
)

select
    'citations' as label_source,
    {% if var('observed_to_citations') is none %}
        cast(year(last_date) - cast((month(last_date) < 12) as integer) as integer)
            as observed_to
    {% else %}
        cast({{ var('observed_to_citations') }} as integer) as observed_to
    {% endif %}
from citing
