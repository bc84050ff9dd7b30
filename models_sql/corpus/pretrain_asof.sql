-- The pre-training text known by the end of a year. basis := 'production' (the default) dates a
-- text by known_year; 'publication' by the year in which it was open to the public, which for
-- pre-grant text is later than its filing; 'filing' is production, but dates granted text by its
-- filing year (a channel of leakage: only later grants have such text). licence_at_most keeps the rows whose
-- licences, the publisher's and their own, ask no more than it in the order of audit.licences; rows
-- of unknown licence are out then.
{{ config(
    materialized='asof_function',
    parameters=[
        'cutoff integer',
        "basis varchar := 'production'",
        'licence_at_most varchar := null',
    ],
) }}
select
    doc_id,
    source,
    known_year,
    public_year,
    filing_year,
    text,
    publisher_licence,
    licence
from {{ ref('pretrain_text') }}
where
    case basis
        when 'production' then known_year <= {{ checked_cutoff() }}
        when 'publication'
            then
                known_year <= {{ checked_cutoff() }}
                and public_year <= {{ checked_cutoff() }}
        when 'filing'
            then
                case
                    when source = 'granted_text' then least(filing_year, known_year)
                    else known_year
                end <= {{ checked_cutoff() }}
        else error(
            'basis ' || coalesce(basis, 'null')
            || ' is unknown: use production, publication or filing'
        )
    end
    and {{ within_licence('licence_at_most', 'publisher_licence', 'licence') }}
