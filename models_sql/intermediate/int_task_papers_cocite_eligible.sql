-- Papers that at least min_cociting patents cite, as whoever is co-cited must be. The pairs of all
-- of them are too many to be made; who is drawn and co-cited with nothing has no row.
{{ config(materialized='view') }}

select
    paper_id as query_id,
    publication_year as task_year
from {{ ref('int_task_paper_citations') }}
group by paper_id, publication_year
having count(*) >= {{ var('min_cociting') }}
