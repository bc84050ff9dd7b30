-- Ids that Semantic Scholar merged, each with the paper that it is now. Two ids are one paper when
-- they share a version (the hash of its file): in paper-ids, in two releases of it, or in the page
-- of a paper record. The id known first stands for the others, then one with a record, then the
-- lowest: never the publisher's newest. An id follows ids known before it alone, so that no later
-- record changes where an earlier one leads.
with recursive held as (
    select corpus_id, min(year) as known_year
    from {{ ref('stg_s2ag__papers') }}
    group by corpus_id
),

versions as (
    select sha, corpus_id
    from {{ ref('stg_s2ag__paper_ids') }}

    union

    select sha, corpus_id
    from {{ ref('stg_s2ag__papers') }}
    where sha is not null
),

-- Few of many: so only they are ranked.
shared as (
    select sha
    from versions
    group by sha
    having min(corpus_id) <> max(corpus_id)
),

places as (
    select
        versions.sha,
        versions.corpus_id,
        held.known_year,
        row_number() over (
            order by held.known_year, held.corpus_id is null, versions.corpus_id
        ) as place
    from versions
    inner join shared on versions.sha = shared.sha
    left join held on versions.corpus_id = held.corpus_id
),

firsts as (
    select
        corpus_id,
        known_year,
        first_value(corpus_id) over first_known as first_id,
        first_value(place) over first_known as first_place
    from places
    window first_known as (partition by sha order by place)
),

-- The first of all versions that an id has.
steps as (
    select
        corpus_id,
        any_value(known_year) as known_year,
        arg_min(first_id, first_place) as next_id
    from firsts
    group by corpus_id
    having arg_min(first_id, first_place) <> corpus_id
),

chains as (
    select corpus_id, known_year, next_id
    from steps

    union all

    select chains.corpus_id, chains.known_year, steps.next_id
    from chains
    inner join steps on chains.next_id = steps.corpus_id
)

select corpus_id, next_id as doc_id, known_year
from chains
where next_id not in (select corpus_id from steps)
order by corpus_id
