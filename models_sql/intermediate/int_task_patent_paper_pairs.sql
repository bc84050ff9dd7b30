-- Patent-paper pairs between patents and papers of the benchmark. A pair that is listed under two
-- ids of one paper has its lower score.
select
    patents.doc_id as patent_id,
    patents.filing_year,
    patents.grant_year,
    papers.doc_id as paper_id,
    papers.publication_year,
    min(pairs.score) as score
from {{ ref('int_patent_paper_pairs') }} as pairs
inner join {{ ref('int_task_patents') }} as patents
    on pairs.patent_doc_id = patents.doc_id
inner join {{ ref('int_task_linked_works') }} as works on pairs.work_id = works.work_id
inner join {{ ref('int_task_linked_papers') }} as papers
    on works.current_work_id = papers.work_id
group by all
order by patent_id, paper_id
