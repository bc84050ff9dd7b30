select
    family_id,
    {{ family_doc_id('family_id') }} as doc_id,
    upper(office) as office,
    lower(publication) as publication,
    application_id,
    publication_date,
    {{ plausible_year('year(publication_date)') }} as publication_year,
    title,
    abstract,
    {{ openalex_work_id('cited_work') }} as work_id,
    confscore,
    lower(wherefound) as wherefound
from {{ read_source('families', 'european_families') }}
