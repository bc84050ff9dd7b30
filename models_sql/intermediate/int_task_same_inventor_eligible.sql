-- Sample patents with at least min_inventors inventors, one of whom has another sample patent.
{{ config(materialized='view') }}

with counted as (
    select
        doc_id,
        grant_year,
        count(*) over (partition by doc_id) as n_inventors,
        count(*) over (partition by inventor_id) as n_patents
    from {{ ref('int_task_sample_inventors') }}
)

select distinct
    doc_id as query_id,
    grant_year as task_year
from counted
where n_inventors >= {{ var('min_inventors') }} and n_patents > 1
