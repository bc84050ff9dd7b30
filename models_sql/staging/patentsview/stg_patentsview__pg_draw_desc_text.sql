-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
select
    pgpub_id,
    draw_desc_sequence,
    draw_desc_text as text
from {{ read_source('patentsview', 'pg_draw_desc_text') }}
