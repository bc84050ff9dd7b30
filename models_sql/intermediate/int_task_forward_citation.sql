-- Distinct patents citing a sample patent from the day of its grant to the fifth anniversary,
-- both days included. Only patents whose window the citation records reach the end of.
with observed as (
    select observed_to
    from {{ ref('int_task_observed_to') }}
    where label_source = 'citations'
),

examples as (
    select
        sample.doc_id,
        sample.grant_year
    from {{ ref('int_task_common_patent_sample') }} as sample
    cross join observed
    where sample.grant_year <= least(
        {{ var('forward_citation_last_grant') }},
        observed.observed_to - {{ var('forward_citation_years') }}
    )
    -- least() passes over a null, and a source that observed nothing has no window.
    and observed.observed_to is not null
),

citations as (
    select
        cited_id,
        count(distinct citing_id) as n_citing
    from {{ ref('int_task_sample_citations') }}
    where
        citing_date between cited_date
        and cited_date + interval {{ var('forward_citation_years') }} year
    group by cited_id
)

select
    examples.doc_id,
    examples.grant_year,
    cast(coalesce(citations.n_citing, 0) as double) as label,
    {{ task_split('doc_id', 'grant_year', 'forward_citation') }} as split
from examples
left join citations on examples.doc_id = citations.cited_id
order by examples.grant_year, examples.doc_id
