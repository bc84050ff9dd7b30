-- How many distinct US utility patents cite a paper, with text or without, of every paper that one
-- cites; of more than uptake_papers, a share of each year in the order of the hash.
with citations as (
    select distinct
        papers.doc_id,
        papers.publication_year,
        patents.doc_id as patent_id,
        patents.known_year as grant_year
    from {{ ref('int_patent_paper_links') }} as links
    inner join {{ ref('int_patents') }} as patents on links.citing_id = patents.doc_id
    inner join {{ ref('int_task_linked_works') }} as works
        on links.work_id = works.work_id
    inner join {{ ref('int_task_linked_papers') }} as papers
        on works.current_work_id = papers.work_id
    where patents.is_utility and patents.known_year is not null
),

papers as (
    select
        doc_id,
        publication_year as task_year,
        greatest(publication_year, max(grant_year)) as label_year,
        cast(count(*) as double) as label
    from citations
    group by doc_id, publication_year
),

drawn as (
    select
        doc_id,
        task_year,
        label_year,
        label
    from papers
    qualify
        row_number() over (
            partition by task_year
            order by {{ stable_rank('doc_id', 'drawn:science_uptake') }}, doc_id
        ) * greatest(count(*) over (), {{ var('uptake_papers') }})
        <= count(*) over (partition by task_year) * {{ var('uptake_papers') }}
)

select
    doc_id,
    task_year,
    label_year,
    label,
    {{ task_split('doc_id', 'task_year', 'science_uptake') }} as split
from drawn
order by task_year, doc_id
