-- This release marks universities alone, and has a country in the place of a foreign flag.
select
    cast(patent_id as varchar) as patent_id,
    assignee_sequence,
    june2022assignee_id as assignee_id,
    organization,
    founding_year,
    founding_score,
    vc_backed_assignee = 1 as is_vc_backed,
    vc_score,
    try_cast(university as double) = 1 as is_university,
    upper(country) as country
from {{ read_source('ocpb', 'patent_ocpb') }}
