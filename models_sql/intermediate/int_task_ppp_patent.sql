-- Patents in a patent-paper pair that is sure enough, whatever the paper, and as many of the common
-- sample that stand in no pair at any score and were granted while pairs were looked for.
with pairs as (
    select
        patent_doc_id as doc_id,
        score,
        known_year
    from {{ ref('int_patent_paper_pairs') }}
    where patent_doc_id is not null
),

positives as (
    select
        patents.doc_id,
        patents.filing_year as task_year,
        greatest(
            patents.filing_year,
            patents.grant_year,
            min(coalesce(pairs.known_year, patents.grant_year))
        ) as label_year
    from pairs
    inner join {{ ref('int_task_patents') }} as patents on pairs.doc_id = patents.doc_id
    where
        pairs.score >= {{ var('min_pair_score') }}
        and patents.filing_year is not null
    group by patents.doc_id, patents.filing_year, patents.grant_year
),

observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'patent_paper_pairs'
),

candidates as (
    select
        sample.doc_id,
        sample.filing_year as task_year,
        greatest(sample.filing_year, sample.grant_year) as label_year
    from {{ ref('int_task_common_patent_sample') }} as sample
    cross join observed
    where
        sample.filing_year is not null
        and sample.grant_year <= observed.observed_to
        and sample.doc_id not in (select pairs.doc_id from pairs)
),

{{ task_balanced_examples('ppp_patent', 'paired', 'unpaired') }}
