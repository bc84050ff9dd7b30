-- Every eligible query of patent_cite with each of its relevant documents: a sample patent that
-- cites at least min_cited sample patents, and those it cites.
with counted as (
    select
        citations.citing_id,
        citations.cited_id,
        citations.citing_year,
        citations.cited_year,
        count(*) over (partition by citations.citing_id) as n_cited
    from {{ ref('int_task_sample_citations') }} as citations
    inner join {{ ref('int_task_common_patent_sample') }} as sample
        on citations.citing_id = sample.doc_id
)

select
    citing_id as query_id,
    cited_id as doc_id,
    citing_year as task_year,
    greatest(citing_year, cited_year) as label_year
from counted
where n_cited >= {{ var('min_cited') }}
order by task_year, query_id, doc_id
