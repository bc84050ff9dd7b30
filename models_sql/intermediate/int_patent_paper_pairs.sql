-- Patent-paper pairs with both ends looked up in this lake, known once both are. An end that is not
-- found is null and counted in audit.unmatched. A pair listed twice has its lower score.
with pairs as (
    select patent_id, work_id, score, days_to_filing
    from {{ ref('stg_ppp__patent_paper_pairs') }}
    qualify row_number() over (
        partition by patent_id, work_id order by score, days_to_filing
    ) = 1
)

select
    pairs.patent_id,
    pairs.work_id,
    patents.doc_id as patent_doc_id,
    works.doc_id as work_doc_id,
    works.paper_id,
    -- greatest() skips a null, so both dates are required first.
    case
        when patents.known_year is not null and works.known_year is not null
            then greatest(patents.known_year, works.known_year)
    end as known_year,
    pairs.score,
    pairs.days_to_filing
from pairs
left join {{ ref('int_patents') }} as patents on pairs.patent_id = patents.patent_id
left join {{ ref('int_dated_works') }} as works on pairs.work_id = works.work_id
order by known_year, pairs.patent_id, pairs.work_id
