-- A view: 450 million hashes, read once, to find the ids that share one.
{{ config(materialized='view') }}
select
    lower(sha) as sha,
    corpusid as corpus_id,
    is_primary
from {{ read_source('s2ag', 'paper_ids') }}
