-- Papers with an author who is matched to a Pasteur's-quadrant researcher, at most
-- researcher_examples of them, and as many of each year without a match at any confidence that were
-- published while authors were matched.
with matched as (
    select
        doc_id,
        publication_year as task_year,
        publication_year as label_year
    from {{ ref('int_task_researcher_papers') }}
    group by doc_id, publication_year
),

positives as (
    select
        doc_id,
        task_year,
        label_year
    from matched
    qualify row_number() over (
        order by {{ stable_rank('doc_id', 'capped:pqr_paper') }}, doc_id
    ) <= {{ var('researcher_examples') }}
),

observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'researcher_papers'
),

candidates as (
    select
        papers.doc_id,
        papers.publication_year as task_year,
        papers.publication_year as label_year
    from {{ ref('int_task_linked_papers') }} as papers
    cross join observed
    where
        papers.publication_year <= observed.observed_to
        and papers.doc_id not in (
            select others.doc_id from {{ ref('int_pqr_works') }} as others
        )
),

{{ task_balanced_examples('pqr_paper', 'researcher', 'other', even=true) }}
