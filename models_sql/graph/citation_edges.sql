-- One row per citation between two embeddable documents, dated by the later endpoint, so that
-- `known_year <= y` is exactly the year-y graph (paper, Appendix A). An edge to an undated
-- document is dropped, never dated by its other end alone.
with documents as (
    select doc_id, doc_type, known_year
    from {{ ref('documents') }}
    where known_year is not null
)

select
    citations.citing_id,
    citations.cited_id,
    citing.doc_type || '_' || cited.doc_type as edge_type,
    greatest(
        {{ function('later_year') }}(citing.known_year, cited.known_year),
        citations.link_year
    ) as known_year
from {{ ref('int_citations') }} as citations
inner join documents as citing on citations.citing_id = citing.doc_id
inner join documents as cited on citations.cited_id = cited.doc_id
order by known_year, citations.citing_id, citations.cited_id
