-- Granted patents: the abstract, then summary, description, figures and claims, dated by the
-- grant year; exempt from the English filter. Where the application has pre-grant text that was
-- known no later than the grant, that text wins and the grant's is left out.
{{ config(materialized='text_store') }}
with {{ import_long_text('g', 'patent_id') }}
pregrant as (
    select pairs.patent_doc_id
    from {{ ref('int_pgpub_grants') }} as pairs
    inner join {{ ref('int_text_uspto') }} as texts on pairs.pgpub_doc_id = texts.doc_id
    where texts.known_year <= pairs.grant_year
),

texts as (
    select
        patents.doc_id,
        patents.known_year,
        patents.filing_year,
        patents.abstract,
        {{ long_text() }} as text
    from {{ ref('int_patents') }} as patents
    {{ join_long_text('patents', 'patent_id') }}
    where
        patents.known_year is not null
        and coalesce(patents.withdrawn, 0) = 0
        and patents.doc_id not in (select patent_doc_id from pregrant)
)

select
    doc_id,
    'granted_text' as source,
    known_year,
    known_year as public_year,
    filing_year,
    {% if var('granted_text_with_abstract') %}
        concat_ws({{ blank_line() }}, abstract, text) as text,
    {% else %}
        text,
    {% endif %}
    'cc-by' as publisher_licence,
    'cc-by' as licence
from texts
where text is not null
