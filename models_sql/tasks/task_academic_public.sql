-- Tell the patents of universities, hospitals and government bodies.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_academic_public') }}
