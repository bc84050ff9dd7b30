-- A view: no mart reads it, so it is not stored a second time.
{{ config(materialized='view') }}
select
    {{ normalize_patent_id('patent_id') }} as patent_id,
    other_reference_sequence as reference_sequence,
    other_reference_text as text
from {{ read_source('patentsview', 'g_other_reference') }}
