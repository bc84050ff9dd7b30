select
    cast(patent_id as varchar) as patent_id,
    initassignee_id as assignee_id,
    initassignee_organization as organization,
    founding_year,
    founding_score,
    vc_backed_assignee = 1 as is_vc_backed,
    vc_score,
    univ_hospital_gov = 1 as is_public,
    is_foreign = 1 as is_foreign
from {{ read_source('ocpb', 'ocpb_assigneeatfiling') }}
