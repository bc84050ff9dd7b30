select
    {{ openalex_author_id('author_id') }} as author_id,
    {{ openalex_work_id('work_id') }} as work_id
from {{ read_source('pqr', 'authorid_workid') }}
