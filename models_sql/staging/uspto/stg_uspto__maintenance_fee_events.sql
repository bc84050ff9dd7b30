-- Dates of zeros occur beside blank ones: both are unknown.
select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    {{ normalize_application_id('application_id') }} as application_id,
    case upper(entity)
        when 'N' then 'large'
        when 'Y' then 'small'
        when 'M' then 'micro'
    end as entity,
    cast(try_strptime(filing_date, '%Y%m%d') as date) as filing_date,
    cast(try_strptime(grant_date, '%Y%m%d') as date) as grant_date,
    cast(try_strptime(event_date, '%Y%m%d') as date) as event_date,
    {{ plausible_year("year(try_strptime(event_date, '%Y%m%d'))") }} as event_year,
    upper(event_code) as event_code,
    {{ fee_event_kind('upper(event_code)') }} as kind
from {{ read_source('uspto', 'maintenance_fee_events') }}
