-- The text of the patents and papers that a retrieval task may name.
{{ config(materialized='view') }}

select
    doc_id,
    title,
    abstract
from {{ ref('documents') }}
where doc_type = 'patent'

union all

select
    doc_id,
    title,
    abstract
from {{ ref('benchmark_papers') }}
