-- What Founding Patents says of the assignee at filing of a benchmark patent. The filing dates the
-- example; its label is not known before the patent is.
{{ config(materialized='view') }}

select
    patents.doc_id,
    patents.filing_year as task_year,
    greatest(patents.filing_year, patents.grant_year) as label_year,
    firms.is_public,
    firms.is_foreign,
    firms.is_vc_backed,
    firms.vc_score
from {{ ref('int_patent_firms') }} as firms
inner join {{ ref('int_task_patents') }} as patents on firms.doc_id = patents.doc_id
where patents.filing_year is not null
