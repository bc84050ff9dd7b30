-- The one paper that a DOI stands for. Where several papers carry it, the one known first wins,
-- then the lowest id: never the most cited, which later years would change.
select doi, doc_id, known_year
from {{ ref('int_papers') }}
where doi is not null
qualify row_number() over (partition by doi order by known_year, doc_id) = 1
