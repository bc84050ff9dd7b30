-- Papers in a patent-paper pair that is sure enough, whatever the patent, and as many of the papers
-- that US patents cite which stand in no pair at any score.
with pairs as (
    select
        papers.doc_id,
        papers.publication_year,
        pairs.score,
        pairs.known_year
    from {{ ref('int_patent_paper_pairs') }} as pairs
    inner join {{ ref('int_task_linked_works') }} as works
        on pairs.work_id = works.work_id
    inner join {{ ref('int_task_linked_papers') }} as papers
        on works.current_work_id = papers.work_id
),

positives as (
    select
        doc_id,
        publication_year as task_year,
        greatest(
            publication_year, min(coalesce(known_year, publication_year))
        ) as label_year
    from pairs
    where score >= {{ var('min_pair_score') }}
    group by doc_id, publication_year
),

observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'patent_paper_pairs'
),

candidates as (
    select
        citations.paper_id as doc_id,
        citations.publication_year as task_year,
        greatest(citations.publication_year, min(citations.grant_year)) as label_year
    from {{ ref('int_task_paper_citations') }} as citations
    cross join observed
    where
        citations.publication_year <= observed.observed_to
        and citations.paper_id not in (select pairs.doc_id from pairs)
    group by citations.paper_id, citations.publication_year
),

{{ task_balanced_examples('ppp_paper', 'paired', 'unpaired') }}
