-- Sample patents with a CPC section, and the split that cpc_section and grant_year share.
select
    doc_id,
    grant_year,
    cpc_section,
    {{ task_split('doc_id', 'grant_year', 'cpc_section') }} as split
from {{ ref('int_task_common_patent_sample') }}
where cpc_section <> '?'
order by grant_year, doc_id
