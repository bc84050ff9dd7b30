-- Pre-training text available at each cutoff, by source (paper, Table 5): documents, and tokens
-- estimated from words. The paper scales by the share of text that its English filter keeps; the
-- text counted here is what the filter has kept.
with years as (
    select cast(unnest(range(first_year, last_year + 1)) as integer) as cutoff
    from {{ ref('lake_span') }}
),

sizes as (
    select
        files.source,
        files.known_year,
        sum(files.n_rows) as n_texts,
        sum(words.n_words) as n_words
    from {{ ref('text_files') }} as files
    inner join {{ ref('text_words') }} as words on files.path = words.path
    group by files.source, files.known_year
)

select
    years.cutoff,
    sizes.source,
    cast(sum(sizes.n_texts) as bigint) as n_texts,
    cast(sum(sizes.n_words) as bigint) as n_words,
    cast(
        round(sum(sizes.n_words) * {{ var('tokens_per_word') }}) as bigint
    ) as n_tokens
from years
inner join sizes on years.cutoff >= sizes.known_year
group by years.cutoff, sizes.source
order by years.cutoff, sizes.source
