-- Tell the grant year of a patent: the patents and the split of cpc_section.
select
    doc_id,
    grant_year as task_year,
    grant_year as label_year,
    split,
    cast(grant_year as double) as label
from {{ ref('int_task_cpc_section') }}
