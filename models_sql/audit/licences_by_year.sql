-- Which licences the pre-training text of each cutoff stands under, counted. A licence that the row
-- does not give is null here and stays unknown; nothing is guessed.
with texts as (
    select
        source,
        known_year,
        publisher_licence,
        licence,
        count(*) as n_rows
    from {{ ref('pretrain_text') }}
    group by source, known_year, publisher_licence, licence
),

cutoffs as (
    select cast(unnest(range(first_year, last_year + 1)) as integer) as cutoff
    from {{ ref('lake_span') }}
)

select
    cutoffs.cutoff,
    texts.source,
    texts.publisher_licence,
    texts.licence,
    greatest(publishers.licence_rank, own.licence_rank) as licence_rank,
    publishers.licence_rank is null or own.licence_rank is null as is_unknown,
    cast(sum(texts.n_rows) as bigint) as n_texts
from cutoffs
inner join texts on cutoffs.cutoff >= texts.known_year
left join {{ ref('licences') }} as publishers
    on texts.publisher_licence = publishers.licence
left join {{ ref('licences') }} as own on texts.licence = own.licence
group by all
order by
    cutoffs.cutoff,
    texts.source,
    texts.publisher_licence,
    texts.licence
