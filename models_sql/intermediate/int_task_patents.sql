-- The patents that a task on labels from outside the patent records may use: any utility patent
-- with text granted in the years of the common sample (paper, section PatRepEval).
{{ config(materialized='view') }}

select
    doc_id,
    known_year as grant_year,
    filing_year
from {{ ref('documents') }}
where
    doc_type = 'patent'
    and known_year between
    {{ var('sample_first_year') }} and {{ var('sample_last_year') }}
