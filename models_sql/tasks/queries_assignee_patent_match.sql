-- The documents that each query of assignee_patent_match is the mean of.
select
    query_id,
    doc_id
from {{ ref('int_task_assignee_patent_match_shown') }}
where query_id in (select query_id from {{ ref('task_assignee_patent_match') }})
