-- Tell how many patents cite a patent within five years of its grant; the evaluator takes log1p.
select
    doc_id,
    grant_year as task_year,
    cast(grant_year + {{ var('forward_citation_years') }} as integer) as label_year,
    split,
    label
from {{ ref('int_task_forward_citation') }}
