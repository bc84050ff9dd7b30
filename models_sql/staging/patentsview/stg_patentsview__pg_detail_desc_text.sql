-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
select
    pgpub_id,
    description_text as text
from {{ read_source('patentsview', 'pg_detail_desc_text') }}
