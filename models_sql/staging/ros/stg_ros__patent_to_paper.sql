-- Publications of applications (v65 has them: kinds A1, A2 and A9, eleven digits, or fewer in 2001)
-- and patents of other offices keep their row with no patent number: they name no granted US patent.
with cited as (
    select
        *,
        {{ normalize_patent_id('patent') }} as number,
        starts_with(lower(patent), 'us-') as is_us
    from {{ read_source('ros', 'pcs_oa') }}
)

select
    case
        when
            is_us
            and regexp_full_match(number, '[A-Z]{0,2}[0-9]{1,9}')
            and not regexp_matches(lower(patent), '-a[129]$')
            then number
    end as patent_id,
    {{ openalex_work_id('oaid') }} as work_id,
    lower(reftype) as reftype,
    confscore,
    lower(wherefound) as wherefound,
    is_us
from cited
