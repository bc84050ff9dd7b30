-- Every patent of an assignee that is kept, dated by its filing.
{{ config(materialized='view') }}

select
    doc_id as query_id,
    filing_year as task_year
from {{ ref('int_task_initial_assignees') }}
