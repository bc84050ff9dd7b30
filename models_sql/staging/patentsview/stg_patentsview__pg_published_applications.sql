-- filing_year dates the text by the paper's rule, public_year by when it could be read.
select
    pgpub_id,
    {{ pgpub_doc_id('pgpub_id') }} as doc_id,
    {{ normalize_application_id('application_id') }} as application_id,
    filing_date,
    {{ plausible_year('year(filing_date)') }} as filing_year,
    published_date,
    {{ plausible_year('year(published_date)') }} as public_year,
    patent_type,
    application_title as title
from {{ read_source('patentsview', 'pg_published_application') }}
