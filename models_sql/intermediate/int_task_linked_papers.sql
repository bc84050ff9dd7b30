-- The papers of the benchmark: works linked to a US patent that have text and a year.
select
    doc_id,
    work_id,
    publication_year
from {{ ref('int_task_paper_texts') }}
where
    work_id in (
        select linked.current_work_id from {{ ref('int_task_linked_works') }} as linked
    )
order by publication_year, doc_id
