-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
select
    corpusid as corpus_id,
    body_text,
    {{ licence_code('license') }} as licence
from {{ read_source('s2ag', 's2orc_v2') }}
