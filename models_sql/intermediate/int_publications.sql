-- One row per pre-grant publication with a filing year, which is the year that dates its text.
select
    pgpub_id,
    doc_id,
    -- A publication without an application number is an application of its own.
    coalesce(application_id, 'pgpub:' || pgpub_id) as application_id,
    filing_year,
    -- The publication number starts with its year.
    coalesce(public_year, cast(pgpub_id // 10000000 as integer)) as public_year
from {{ ref('stg_patentsview__pg_published_applications') }}
where filing_year is not null
qualify row_number() over (
    partition by pgpub_id order by filing_year, published_date, title
) = 1
