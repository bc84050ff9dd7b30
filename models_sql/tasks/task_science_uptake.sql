-- Tell how many patents cite a paper; the evaluator takes log1p.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_science_uptake') }}
