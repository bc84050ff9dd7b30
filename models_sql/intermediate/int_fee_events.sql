-- One row per event of a patent's maintenance fees, dated by the day of the event: releases are
-- cumulative and repeat their rows. Of the events of one day an expiry stands before the
-- reinstatement that undoes it (`step`), so that the last row of a patent is its last state.
select
    patents.doc_id,
    patents.patent_id,
    -- No event of a patent is known before the patent is.
    greatest(
        events.event_year, coalesce(patents.known_year, events.event_year)
    ) as known_year,
    events.event_date,
    case events.kind when 'expired' then 1 when 'reinstated' then 2 else 0 end as step,
    events.event_code,
    events.kind,
    min(events.entity) as entity
from {{ ref('stg_uspto__maintenance_fee_events') }} as events
inner join {{ ref('int_patents') }} as patents on events.patent_id = patents.patent_id
where events.event_year is not null
group by all
order by known_year, patents.doc_id, event_date, step, event_code
