-- The patents that every task on patent records shares.
select
    doc_id,
    grant_year,
    filing_year,
    cpc_section,
    cell_patents
from {{ ref('int_task_common_patent_sample') }}
