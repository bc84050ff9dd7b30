-- One row per embeddable document: title and abstract both hold text, the year is known, and a
-- patent is a granted utility patent that was not withdrawn (paper, section 5 and Appendix A).
-- Stored in date order, so that a cutoff is a prefix.
with candidates as (
    select
        doc_id,
        doc_uri,
        'paper' as doc_type,
        -- An abstract of a merged record makes the paper a document from that record on.
        greatest(known_year, abstract_year) as known_year,
        cast(null as integer) as filing_year,
        title,
        abstract
    from {{ ref('int_papers') }}
    where known_year is not null

    union all

    select
        doc_id,
        doc_uri,
        'patent' as doc_type,
        known_year,
        filing_year,
        title,
        abstract
    from {{ ref('int_patents') }}
    where is_utility
)

select
    doc_id,
    doc_uri,
    doc_type,
    known_year,
    filing_year,
    title,
    abstract
from candidates
where
    known_year is not null
    and {{ has_text('title') }}
    and {{ has_text('abstract') }}
    {% if var('english_nodes') %}
        -- Patents are exempt, as they are for text.
        and (
            doc_type = 'patent'
            or md5(abstract) in (
                select text_md5
                from {{ ref('int_language_scores') }}
                where english >= {{ var('min_english') }}
            )
        )
    {% endif %}
order by known_year, doc_id
