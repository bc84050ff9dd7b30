-- Papers in a pair of at least min_pair_score.
{{ config(materialized='view') }}

select distinct
    paper_id as query_id,
    publication_year as task_year
from {{ ref('int_task_patent_paper_pairs') }}
where score >= {{ var('min_pair_score') }}
