-- Whether a sample patent was kept through its eighth year. Events count up to the ninth anniversary
-- of the grant: a year-8 fee may be paid late, and what comes with year 12 says nothing. The fee of
-- year 8 decides; else the last expiry or reinstatement does. A patent with neither has no label.
with observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'fees'
),

eligible as (
    select
        sample.doc_id,
        sample.grant_year,
        patents.grant_date
    from {{ ref('int_task_common_patent_sample') }} as sample
    inner join {{ ref('int_patents') }} as patents on sample.doc_id = patents.doc_id
    cross join observed
    where
        observed.observed_to is not null
        and sample.grant_year <= least(
            {{ var('renewal_last_grant') }},
            observed.observed_to - {{ var('renewal_years') }}
        )
),

-- Events of one day stand in the order of their step: an expiry before what undoes it.
histories as (
    select
        eligible.doc_id,
        eligible.grant_year,
        bool_or(events.kind = 'paid_8') as is_paid,
        arg_max(events.kind, (events.event_date, events.step)) filter (
            where events.kind in ('expired', 'reinstated', 'petition_granted')
        ) as last_turn
    from eligible
    inner join {{ ref('int_fee_events') }} as events
        on eligible.doc_id = events.doc_id
    where
        events.event_date
        <= eligible.grant_date + interval {{ var('renewal_years') }} year
    group by eligible.doc_id, eligible.grant_year
),

examples as (
    select
        doc_id,
        grant_year as task_year,
        case
            when is_paid or last_turn in ('reinstated', 'petition_granted')
                then 'maintained'
            when last_turn = 'expired' then 'lapsed'
        end as label
    from histories
)

select
    doc_id,
    task_year,
    cast(task_year + {{ var('renewal_years') }} as integer) as label_year,
    label,
    {{ task_split('doc_id', 'task_year', 'renewal') }} as split
from examples
where label is not null
order by task_year, doc_id
