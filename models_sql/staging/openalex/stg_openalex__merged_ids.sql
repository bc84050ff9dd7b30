select
    {{ openalex_work_id('id') }} as work_id,
    {{ openalex_work_id('merge_into_id') }} as into_work_id,
    merge_date
from {{ read_source('openalex', 'merged_ids') }}
