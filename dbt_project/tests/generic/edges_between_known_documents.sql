{% test edges_between_known_documents(model, documents) %}
-- an edge of a slice, dated again from its two documents, is not of that year
{% set last_year = lake_span_years()[1] %}
select edges.citing_id, edges.cited_id, edges.known_year, citing.known_year, cited.known_year
from {{ model }}({{ last_year }}) as edges
left join {{ documents }} as citing on edges.citing_id = citing.doc_id
left join {{ documents }} as cited on edges.cited_id = cited.doc_id
where
    citing.known_year is null
    or cited.known_year is null
    or edges.known_year <> case
        when citing.known_year > cited.known_year then citing.known_year else cited.known_year
    end
{% endtest %}
