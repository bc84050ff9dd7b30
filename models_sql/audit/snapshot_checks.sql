-- One measure of a snapshot a row, beside the bounds that it plausibly has: what lies outside looks
-- scrambled. Few rows say nothing, so a measure of less than `rows_to_judge` is not judged.
with papers as (
    select corpus_id, doi, title, year, publication_date
    from {{ ref('stg_s2ag__papers') }}
),

patents as (
    select patent_id, patent_type, grant_date, try_cast(patent_id as bigint) as number
    from {{ ref('stg_patentsview__patents') }}
),

-- One record a DOI on each side; of a large snapshot the DOIs of lowest hash.
doi_papers as (
    select doi, any_value(title) as title, any_value(year) as year
    from papers
    where doi is not null and title is not null
    group by doi
    having count(*) = 1
    order by md5(doi)
    limit {{ var('dois_to_compare') }}
),

doi_works as (
    select doi, any_value(title) as title, any_value(publication_year) as year
    from {{ ref('stg_openalex__works') }}
    where doi in (select doi from doi_papers) and title is not null
    group by doi
    having count(*) = 1
),

same_dois as (
    select
        abs(doi_papers.year - doi_works.year) <= 1 as years_agree,
        {{ title_words('doi_papers.title') }} as words,
        {{ title_words('doi_works.title') }} as other_words
    from doi_papers
    inner join doi_works on doi_papers.doi = doi_works.doi
),

ranked_patents as (
    select
        rank() over (order by number) as number_rank,
        rank() over (order by grant_date) as day_rank
    from patents
    where patent_type = 'utility' and number is not null and grant_date is not null
),

measured as (
    {% for measure in snapshot_measures() %}
        select
            '{{ measure.source }}' as source,
            '{{ measure.table }}' as table_name,
            '{{ measure.name }}' as measure,
            cast({{ measure.value }} as double) as measured,
            count(*) as n_rows
        from {{ measure.relation }}

        {{ "union all" if not loop.last }}
    {% endfor %}
)

select
    coalesce(bounds.source, measured.source) as source,
    coalesce(bounds.table_name, measured.table_name) as table_name,
    coalesce(bounds.measure, measured.measure) as measure,
    round(measured.measured, 4) as measured,
    bounds.lowest,
    bounds.highest,
    measured.n_rows,
    case
        when measured.n_rows >= {{ var('rows_to_judge') }}
            then coalesce(
                measured.measured between bounds.lowest and bounds.highest, false
            )
    end as is_plausible,
    bounds.looks_like
from {{ ref('plausibility_bounds') }} as bounds
full outer join measured
    on
        bounds.source = measured.source
        and bounds.table_name = measured.table_name
        and bounds.measure = measured.measure
order by source, table_name, measure
