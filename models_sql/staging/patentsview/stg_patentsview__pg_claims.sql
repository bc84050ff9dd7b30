-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
select
    pgpub_id,
    claim_sequence,
    claim_text as text
from {{ read_source('patentsview', 'pg_claims') }}
