-- Abstracts of papers, English, dated by the paper's year, or by the later merged record that gave
-- the abstract.
{{ config(materialized='text_store') }}
select
    papers.doc_id,
    'abstracts' as source,
    greatest(papers.known_year, papers.abstract_year) as known_year,
    greatest(papers.known_year, papers.abstract_year) as public_year,
    cast(null as integer) as filing_year,
    papers.abstract as text,
    'odc-by' as publisher_licence,
    papers.licence
from {{ ref('int_papers') }} as papers
inner join {{ ref('int_language_scores') }} as scores
    on md5(papers.abstract) = scores.text_md5
where papers.known_year is not null and scores.english >= {{ var('min_english') }}
