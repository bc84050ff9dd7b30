-- Every pre-training text, read from the Parquet files of the text store in the order of the
-- slices (known_year, source, doc_id). The files are listed, so that a build beside the last
-- good lake does not show in it.
{{ config(materialized='view') }}
select
    doc_id,
    source,
    known_year,
    public_year,
    filing_year,
    text,
    publisher_licence,
    licence
from {{ read_text_store(ref('text_files')) }}
