-- Papers of a researcher who has a patent.
{{ config(materialized='view') }}

select distinct
    papers.doc_id as query_id,
    papers.publication_year as task_year
from {{ ref('int_task_researcher_papers') }} as papers
semi join {{ ref('int_task_researcher_patents') }} as patents
    on
        papers.inventor_id = patents.inventor_id
        and papers.author_id = patents.author_id
