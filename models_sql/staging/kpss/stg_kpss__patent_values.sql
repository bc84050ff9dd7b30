-- Releases write dates in two ways. A value that is no finite number is no value.
with patents as (
    select
        *,
        try_strptime(filing_date, ['%m/%d/%Y', '%Y-%m-%d']) as filed,
        try_strptime(issue_date, ['%m/%d/%Y', '%Y-%m-%d']) as issued
    from {{ read_source('kpss', 'patent_values') }}
)

select
    cast(patent_num as varchar) as patent_id,
    case when isfinite(xi_real) then xi_real end as xi_real,
    case when isfinite(xi_nominal) then xi_nominal end as xi_nominal,
    cites,
    cast(filed as date) as filing_date,
    cast(issued as date) as issue_date,
    {{ plausible_year("year(issued)") }} as issue_year,
    permno
from patents
