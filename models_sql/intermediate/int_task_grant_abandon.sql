-- Applications that became patents of the common sample, and as many of each filing year that the
-- crosswalk pairs with no grant at all, as far as there are. A later filing may still be pending.
with observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'crosswalk'
),

eligible as (
    select
        applications.doc_id,
        applications.filing_year
    from {{ ref('int_task_applications') }} as applications
    cross join observed
    where
        observed.observed_to is not null
        and applications.filing_year <= least(
            {{ var('grant_abandon_last_filing') }},
            observed.observed_to - {{ var('grant_abandon_years') }}
        )
),

positives as (
    select
        eligible.doc_id,
        eligible.filing_year as task_year,
        greatest(eligible.filing_year, min(grants.grant_year)) as label_year
    from eligible
    inner join {{ ref('int_task_application_grants') }} as grants
        on eligible.doc_id = grants.doc_id
    where grants.sample_doc_id is not null
    group by eligible.doc_id, eligible.filing_year
),

candidates as (
    select
        doc_id,
        filing_year as task_year,
        cast(filing_year + {{ var('grant_abandon_years') }} as integer) as label_year
    from eligible
    where doc_id not in (
        select grants.doc_id from {{ ref('int_task_application_grants') }} as grants
    )
),

{{ task_balanced_examples('grant_abandon', 'granted', 'abandoned') }}
