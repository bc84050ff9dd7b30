-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
select
    pgpub_id,
    summary_text as text
from {{ read_source('patentsview', 'pg_brf_sum_text') }}
