-- Tell which of the most frequent CPC subclasses a patent has.
select
    doc_id,
    task_year,
    label_year,
    split,
    label
from {{ ref('int_task_cpc_subclass') }}
