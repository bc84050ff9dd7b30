select
    pgpub_id,
    {{ normalize_patent_id('patent_id') }} as patent_id,
    {{ normalize_application_id('application_id') }} as application_id
from {{ read_source('patentsview', 'pg_granted_pgpubs_crosswalk') }}
