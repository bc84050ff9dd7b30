-- One row per patent with a value, dated by its issue. Of several rows of a patent the one issued
-- first wins, then the lowest value.
select
    patents.doc_id,
    patents.patent_id,
    -- Issue and grant are one day; where the sources disagree, the later one is safe.
    greatest(
        firms.issue_year, coalesce(patents.known_year, firms.issue_year)
    ) as known_year,
    firms.issue_date,
    firms.xi_real,
    firms.xi_nominal,
    firms.permno
from {{ ref('stg_kpss__patent_values') }} as firms
inner join {{ ref('int_patents') }} as patents on firms.patent_id = patents.patent_id
where firms.issue_year is not null
qualify
    row_number() over (
        partition by patents.doc_id
        order by firms.issue_date, firms.xi_real, firms.permno
    ) = 1
order by known_year, patents.doc_id
