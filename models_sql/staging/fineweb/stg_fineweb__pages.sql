-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(
    materialized='view',
    post_hook="{{ keep_collisions(web_doc_id('id'), 'id', 'dump') }}",
) }}
select
    id as page_id,
    {{ web_doc_id('id') }} as doc_id,
    dump,
    {{ plausible_year("try_cast(substr(dump, 9, 4) as integer)") }} as crawl_year,
    language_score,
    score,
    text
from {{ read_source('fineweb', 'pages') }}
