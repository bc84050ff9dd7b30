-- Every eligible query of patent_cocite with each of its relevant documents: the queries that
-- patent_cite may draw from, and the sample patents that at least min_cociting distinct patents
-- cite together with them. Who is cited together with nobody is no query.
with eligible as (
    select distinct query_id
    from {{ ref('int_task_patent_cite_pairs') }}
),

citations as (
    select
        citing_id,
        citing_year,
        cited_id,
        cited_year
    from {{ ref('int_task_sample_citations') }}
)

select
    query.cited_id as query_id,
    other.cited_id as doc_id,
    query.cited_year as task_year,
    -- The pair is known to be co-cited once the last of the patents it takes is granted.
    greatest(
        query.cited_year,
        other.cited_year,
        min(query.citing_year, {{ var('min_cociting') }})[{{ var('min_cociting') }}]
    ) as label_year
from citations as query
inner join eligible on query.cited_id = eligible.query_id
inner join citations as other
    on query.citing_id = other.citing_id and query.cited_id <> other.cited_id
group by query.cited_id, other.cited_id, query.cited_year, other.cited_year
having count(*) >= {{ var('min_cociting') }}
order by task_year, query_id, doc_id
