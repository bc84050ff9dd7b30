-- Patents with an inventor who is matched to a Pasteur's-quadrant researcher, at most
-- researcher_examples of them, and as many of each year without a match at any confidence that were
-- granted while inventors were matched.
with matched as (
    select
        doc_id,
        filing_year as task_year,
        greatest(filing_year, grant_year) as label_year
    from {{ ref('int_task_researcher_patents') }}
    where filing_year is not null
    group by doc_id, filing_year, grant_year
),

positives as (
    select
        doc_id,
        task_year,
        label_year
    from matched
    qualify row_number() over (
        order by {{ stable_rank('doc_id', 'capped:pqr_patent') }}, doc_id
    ) <= {{ var('researcher_examples') }}
),

observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'researcher_patents'
),

candidates as (
    select
        patents.doc_id,
        patents.filing_year as task_year,
        greatest(patents.filing_year, patents.grant_year) as label_year
    from {{ ref('int_task_patents') }} as patents
    cross join observed
    where
        patents.filing_year is not null
        and patents.grant_year <= observed.observed_to
        and patents.doc_id not in (
            select others.doc_id from {{ ref('int_pqr_patents') }} as others
        )
),

{{ task_balanced_examples('pqr_patent', 'researcher', 'other', even=true) }}
