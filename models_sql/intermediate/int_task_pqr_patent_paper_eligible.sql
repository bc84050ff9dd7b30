-- Patents of a researcher who has a paper, dated by their filing.
{{ config(materialized='view') }}

select distinct
    patents.doc_id as query_id,
    patents.filing_year as task_year
from {{ ref('int_task_researcher_patents') }} as patents
semi join {{ ref('int_task_researcher_papers') }} as papers
    on
        patents.inventor_id = papers.inventor_id
        and patents.author_id = papers.author_id
where patents.filing_year is not null
