-- The patents that every task on patent records shares: at most patents_per_cell of each
-- (grant year x primary CPC section) cell, in the order of their hash (paper, Appendix B.4).
{{ config(post_hook="{{ task_log_share_without_cpc() }}") }}

with candidates as (
    select
        documents.doc_id,
        documents.known_year as grant_year,
        documents.filing_year,
        coalesce(primary_cpc.cpc_section, '?') as cpc_section
    from {{ ref('documents') }} as documents
    left join {{ ref('int_task_primary_cpc') }} as primary_cpc
        on documents.doc_id = primary_cpc.doc_id
    where
        documents.doc_type = 'patent'
        and documents.known_year between
        {{ var('sample_first_year') }} and {{ var('sample_last_year') }}
        and ({{ var('sample_without_cpc') }} or primary_cpc.cpc_section is not null)
),

ranked as (
    select
        doc_id,
        grant_year,
        filing_year,
        cpc_section,
        count(*) over (partition by grant_year, cpc_section) as cell_patents,
        row_number() over (
            partition by grant_year, cpc_section
            order by {{ stable_rank('doc_id', 'common_patent_sample') }}, doc_id
        ) as cell_rank
    from candidates
)

select
    doc_id,
    grant_year,
    filing_year,
    cpc_section,
    cell_patents
from ranked
where cell_rank <= {{ var('patents_per_cell') }}
order by grant_year, doc_id
