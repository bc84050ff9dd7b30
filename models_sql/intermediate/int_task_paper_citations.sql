-- Which patents cite which papers of the benchmark (Reliance on Science), each pair once.
select distinct
    patents.doc_id as patent_id,
    patents.filing_year,
    patents.grant_year,
    papers.doc_id as paper_id,
    papers.publication_year
from {{ ref('int_patent_paper_links') }} as links
inner join {{ ref('int_task_patents') }} as patents on links.citing_id = patents.doc_id
inner join {{ ref('int_task_linked_works') }} as works on links.work_id = works.work_id
inner join {{ ref('int_task_linked_papers') }} as papers
    on works.current_work_id = papers.work_id
order by patent_id, paper_id
