-- One row per paper record. The year dates everything about a paper, so an implausible one is no
-- year: the row stays, undated, and reaches no slice.
select
    corpusid as corpus_id,
    {{ normalize_doi('doi') }} as doi,
    title,
    {{ plausible_year('year') }} as year,
    publicationdate as publication_date,
    year as raw_year,
    nullif(regexp_extract(lower(url), '/([0-9a-f]{40})/?$', 1), '') as sha
from {{ read_source('s2ag', 'papers') }}
