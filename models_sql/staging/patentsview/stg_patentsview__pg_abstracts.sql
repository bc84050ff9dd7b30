select
    pgpub_id,
    application_abstract as abstract
from {{ read_source('patentsview', 'pg_published_application_abstract') }}
