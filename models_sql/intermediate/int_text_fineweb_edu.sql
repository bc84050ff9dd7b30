-- Web pages, English, dated by the crawl dump: a dump may hold old text, never newer. Where two
-- pages have one doc_id, the one known first keeps it (the other is in quarantine); where a page
-- stands in several dumps under one id, its first text counts. With web_pages_once a text that other
-- pages repeat is kept once, where it was known first.
{{ config(materialized='text_store') }}
with pages as (
    select page_id, doc_id, dump, crawl_year, text
    from {{ ref('stg_fineweb__pages') }}
    where crawl_year is not null
),

-- Few of many: so only they are ranked, and the text of the others is never sorted.
repeated as (
    select doc_id
    from pages
    group by doc_id
    having count(*) > 1
),

keepers as (
    select doc_id, page_id
    from pages
    where doc_id in (select doc_id from repeated)
    qualify row_number() over (
        partition by doc_id order by crawl_year, dump, page_id
    ) = 1
),

first_texts as (
    select pages.doc_id, pages.crawl_year, pages.dump, pages.text
    from pages
    inner join keepers
        on pages.doc_id = keepers.doc_id and pages.page_id = keepers.page_id
    where {{ has_text('pages.text') }}
    qualify row_number() over (
        partition by pages.doc_id order by pages.crawl_year, pages.dump, md5(pages.text)
    ) = 1
),

texts as (
    select doc_id, crawl_year, dump, text, md5(text) as text_md5
    from pages
    where {{ has_text('text') }} and doc_id not in (select doc_id from repeated)

    union all

    select doc_id, crawl_year, dump, text, md5(text) as text_md5
    from first_texts
),

-- Ranked without the texts, of which only few repeat.
first_pages as (
    select arg_min(doc_id, (crawl_year, dump, doc_id)) as doc_id
    from texts
    group by text_md5
)

select
    texts.doc_id,
    'fineweb_edu' as source,
    texts.crawl_year as known_year,
    texts.crawl_year as public_year,
    cast(null as integer) as filing_year,
    texts.text,
    'odc-by' as publisher_licence,
    'odc-by' as licence
from texts
inner join {{ ref('int_language_scores') }} as scores
    on texts.text_md5 = scores.text_md5
where
    scores.english >= {{ var('min_english') }}
    {% if var('web_pages_once') %}
        and texts.doc_id in (select doc_id from first_pages)
    {% endif %}
