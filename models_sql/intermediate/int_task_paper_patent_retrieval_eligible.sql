-- Papers that at least min_citing patents cite.
{{ config(materialized='view') }}

select
    paper_id as query_id,
    publication_year as task_year
from {{ ref('int_task_paper_citations') }}
group by paper_id, publication_year
having count(*) >= {{ var('min_citing') }}
