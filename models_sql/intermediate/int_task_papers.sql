-- The papers that a task over papers may rank.
{{ config(materialized='view') }}

select doc_id
from {{ ref('documents') }}
where doc_type = 'paper'
