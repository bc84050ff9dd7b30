-- Body text of papers from both versions of S2ORC, English, dated by the paper's year. Of several
-- bodies of a paper its own come before those of merged records, which are known later, and then
-- the second version, whose body is given and not cut out.
{{ config(materialized='text_store') }}
with versions as (
    select corpus_id, 2 as version, body_text as text, licence
    from {{ ref('stg_s2ag__s2orc_v2') }}
    where {{ has_text('body_text') }}

    union all

    select corpus_id, 1 as version, body_text as text, licence
    from {{ ref('stg_s2ag__s2orc') }}
    where {{ has_text('body_text') }}
),

bodies as (
    select
        coalesce(merged.doc_id, versions.corpus_id) as doc_id,
        merged.known_year as body_year,
        versions.text,
        versions.licence,
        md5(versions.text) as text_md5
    from versions
    left join {{ ref('int_merged_ids') }} as merged
        on versions.corpus_id = merged.corpus_id
    qualify row_number() over (
        partition by coalesce(merged.doc_id, versions.corpus_id)
        order by
            merged.known_year asc nulls first,
            merged.corpus_id asc nulls first,
            versions.version desc,
            md5(versions.text) asc
    ) = 1
)

select
    papers.doc_id,
    's2orc' as source,
    greatest(papers.known_year, bodies.body_year) as known_year,
    greatest(papers.known_year, bodies.body_year) as public_year,
    cast(null as integer) as filing_year,
    bodies.text,
    'odc-by' as publisher_licence,
    bodies.licence
from bodies
inner join {{ ref('int_papers') }} as papers on bodies.doc_id = papers.doc_id
inner join {{ ref('int_language_scores') }} as scores
    on bodies.text_md5 = scores.text_md5
where papers.known_year is not null and scores.english >= {{ var('min_english') }}
