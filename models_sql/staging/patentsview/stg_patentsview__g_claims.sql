-- A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    claim_sequence,
    claim_text as text
from {{ read_source('patentsview', 'g_claims') }}
