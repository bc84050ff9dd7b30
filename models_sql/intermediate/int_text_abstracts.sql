-- Abstracts of papers, English, dated by the paper's year.
{{ config(materialized='text_store') }}
select
    papers.doc_id,
    'abstracts' as source,
    papers.known_year,
    papers.known_year as public_year,
    cast(null as integer) as filing_year,
    papers.abstract as text
from {{ ref('int_papers') }} as papers
inner join {{ ref('int_language_scores') }} as scores
    on md5(papers.abstract) = scores.text_md5
where papers.known_year is not null and scores.english >= {{ var('min_english') }}
