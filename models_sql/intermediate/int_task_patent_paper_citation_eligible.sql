-- Patents that cite at least min_cited papers, dated by their filing.
{{ config(materialized='view') }}

select
    patent_id as query_id,
    filing_year as task_year
from {{ ref('int_task_paper_citations') }}
where filing_year is not null
group by patent_id, filing_year
having count(*) >= {{ var('min_cited') }}
