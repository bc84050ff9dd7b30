-- Classify a patent by the section of its primary CPC.
select
    doc_id,
    grant_year as task_year,
    grant_year as label_year,
    split,
    cpc_section as label
from {{ ref('int_task_cpc_section') }}
