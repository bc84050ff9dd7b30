-- The last year that each source of labels has observed to its end. Unless the setting names it,
-- it is the last year in whose December the source still has a record: a year that breaks off
-- has open windows, and a label whose window is open does not exist.
with last_dates as (
    select
        'citations' as label_source,
        max(patents.grant_date) as last_date
    from {{ ref('stg_patentsview__us_patent_citations') }} as citations
    inner join {{ ref('int_patents') }} as patents
        on citations.patent_id = patents.patent_id
    where patents.is_utility

    union all

    select
        'fees' as label_source,
        max(event_date) as last_date
    from {{ ref('int_fee_events') }}

    union all

    select
        'crosswalk' as label_source,
        max(patents.grant_date) as last_date
    from {{ ref('int_pgpub_grants') }} as grants
    inner join {{ ref('int_patents') }} as patents
        on grants.patent_doc_id = patents.doc_id

    union all

    select
        'patent_paper_pairs' as label_source,
        max(patents.grant_date) as last_date
    from {{ ref('int_patent_paper_pairs') }} as pairs
    inner join {{ ref('int_patents') }} as patents
        on pairs.patent_doc_id = patents.doc_id

    union all

    select
        'researcher_patents' as label_source,
        max(patents.grant_date) as last_date
    from {{ ref('stg_pqr__inventor_patents') }} as links
    inner join {{ ref('int_patents') }} as patents
        on links.patent_id = patents.patent_id

    union all

    -- Works have a year alone, and the last one may break off.
    select
        'researcher_papers' as label_source,
        make_date(max(papers.publication_year), 1, 1) as last_date
    from {{ ref('stg_pqr__author_works') }} as links
    inner join {{ ref('int_task_linked_papers') }} as papers
        on links.work_id = papers.work_id
),

{% set sources = [
    'citations', 'fees', 'crosswalk', 'patent_paper_pairs', 'researcher_patents',
    'researcher_papers'
] %}
settings as (
    {% for name in sources %}
        {% set named = var('observed_to_' ~ name) %}
        select
            '{{ name }}' as label_source,
            {{ 'null' if named is none else named }} as named_year
        {{ 'union all' if not loop.last }}
    {% endfor %}
)

select
    last_dates.label_source,
    cast(
        coalesce(
            settings.named_year,
            year(last_dates.last_date)
            - cast((month(last_dates.last_date) < 12) as integer)
        ) as integer
    ) as observed_to
from last_dates
inner join settings on last_dates.label_source = settings.label_source
