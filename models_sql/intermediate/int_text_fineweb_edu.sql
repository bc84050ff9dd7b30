-- Web pages, English, dated by the crawl dump: a dump may hold old text, never newer. Where two
-- pages have one id, the one known first keeps it.
{{ config(materialized='text_store') }}
with pages as (
    select
        doc_id,
        crawl_year,
        text,
        md5(text) as text_md5
    from {{ ref('stg_fineweb__pages') }}
    where crawl_year is not null and {{ has_text('text') }}
    qualify row_number() over (
        partition by doc_id order by crawl_year, dump, page_id
    ) = 1
)

select
    pages.doc_id,
    'fineweb_edu' as source,
    pages.crawl_year as known_year,
    pages.crawl_year as public_year,
    cast(null as integer) as filing_year,
    pages.text
from pages
inner join {{ ref('int_language_scores') }} as scores
    on pages.text_md5 = scores.text_md5
where scores.english >= {{ var('min_english') }}
