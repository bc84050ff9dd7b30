-- Words of each Parquet file of the text store, so that a build counts only files that it wrote:
-- a file never changes.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='fail',
    post_hook="delete from {{ this }} where path not in (select path from {{ ref('text_files') }})",
) }}
with texts as (
    select file, text
    from {{ read_uncounted_texts(ref('text_files')) }}
)

select
    file as path,
    -- As the paper counts: what white space separates.
    cast(sum(len(regexp_extract_all(text, '\S+'))) as bigint) as n_words
from texts
group by file
