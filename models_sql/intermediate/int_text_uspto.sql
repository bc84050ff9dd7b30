-- Pre-grant publications: summary, description, figures and claims, dated by the filing year;
-- exempt from the English filter. Each publication is a document of its own, but of identical
-- re-publications of one application the one filed first is kept, then the one published first,
-- then the lowest id: a corrected filing date must not take the text out of an earlier slice.
{{ config(materialized='text_store') }}
with {{ import_long_text('pg', 'pgpub_id') }}
-- Dated after its own grant, so wrongly: the grant, known first, stands for the application.
misdated as (
    select pgpub_doc_id
    from {{ ref('int_pgpub_grants') }}
    where filing_year > grant_year
),

texts as (
    select
        publications.doc_id,
        publications.application_id,
        publications.filing_year,
        publications.public_year,
        {{ long_text() }} as text
    from {{ ref('int_publications') }} as publications
    {{ join_long_text('publications', 'pgpub_id') }}
    where publications.doc_id not in (select pgpub_doc_id from misdated)
)

select
    doc_id,
    'uspto' as source,
    filing_year as known_year,
    public_year,
    filing_year,
    text,
    'cc-by' as publisher_licence,
    'cc-by' as licence
from texts
where text is not null
qualify row_number() over (
    partition by application_id, md5(text) order by filing_year, public_year, doc_id
) = 1
