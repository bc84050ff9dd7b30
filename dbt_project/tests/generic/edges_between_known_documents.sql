{% test edges_between_known_documents(model, documents, links) %}
-- an edge of a slice, dated again from its two documents, is not of that year, nor of the later year
-- of a link that it runs through
{% set last_year = lake_span_years()[1] %}
with dated as (
    select
        edges.citing_id,
        edges.cited_id,
        edges.known_year,
        case
            when citing.known_year > cited.known_year then citing.known_year
            else cited.known_year
        end as later_year,
        citing.known_year is not null and cited.known_year is not null as has_both
    from {{ model }}({{ last_year }}) as edges
    left join {{ documents }} as citing on edges.citing_id = citing.doc_id
    left join {{ documents }} as cited on edges.cited_id = cited.doc_id
)

select citing_id, cited_id, known_year, later_year
from dated
where
    not has_both
    or known_year < later_year
    or (
        known_year > later_year
        and (citing_id, cited_id, known_year) not in (
            select (citing_id, cited_id, link_year) from {{ links }} where link_year is not null
        )
    )
{% endtest %}
