-- The papers of the benchmark, with their text.
select
    doc_id,
    publication_year,
    title,
    abstract
from {{ ref('int_task_paper_texts') }}
where
    doc_id in (
        select papers.doc_id from {{ ref('int_task_linked_papers') }} as papers
    )
