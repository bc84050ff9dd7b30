-- Body text of papers, English, dated by the paper's year.
{{ config(materialized='text_store') }}
with bodies as (
    select corpus_id, body_text as text, md5(body_text) as text_md5
    from {{ ref('stg_s2ag__s2orc_v2') }}
    where {{ has_text('body_text') }}
    qualify row_number() over (partition by corpus_id order by md5(body_text)) = 1
)

select
    papers.doc_id,
    's2orc' as source,
    papers.known_year,
    papers.known_year as public_year,
    cast(null as integer) as filing_year,
    bodies.text
from bodies
inner join {{ ref('int_papers') }} as papers on bodies.corpus_id = papers.doc_id
inner join {{ ref('int_language_scores') }} as scores
    on bodies.text_md5 = scores.text_md5
where papers.known_year is not null and scores.english >= {{ var('min_english') }}
