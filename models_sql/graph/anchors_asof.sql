-- The documents to train on at a cutoff: three pools drawn independently among the nodes of the
-- slice (papers, patents, patents that cite a paper), in the order of a hash salted by pool and
-- cutoff. A patent drawn into both patent pools is kept once, in the citing one (Appendix A).
{{ config(materialized='asof_function', parameters=['cutoff integer']) }}
{%- set cutoff = checked_cutoff() %}
with nodes as (
    select node_id, doc_id, doc_type
    from {{ ref('graph_nodes') }}
    where known_year <= {{ cutoff }}
),

citing_papers as (
    select distinct citing_id as doc_id
    from {{ ref('citation_edges') }}
    where edge_type = 'patent_paper' and known_year <= {{ cutoff }}
),

paper_pool as (
    select node_id, doc_id, doc_type, 'paper' as pool
    from nodes
    where doc_type = 'paper'
    order by {{ stable_rank('doc_id', 'anchors-paper', cutoff) }}, doc_id
    limit {{ var('anchors_paper') }}
),

patent_pool as (
    select node_id, doc_id, doc_type, 'patent' as pool
    from nodes
    where doc_type = 'patent'
    order by {{ stable_rank('doc_id', 'anchors-patent', cutoff) }}, doc_id
    limit {{ var('anchors_patent') }}
),

citing_pool as (
    select node_id, doc_id, doc_type, 'patent_citing_paper' as pool
    from nodes
    where doc_id in (select doc_id from citing_papers)
    order by {{ stable_rank('doc_id', 'anchors-patent_citing_paper', cutoff) }}, doc_id
    limit {{ var('anchors_patent_citing_paper') }}
)

select doc_id, node_id, doc_type, pool
from (
    select * from paper_pool
    union all
    select * from citing_pool
    union all
    select *
    from patent_pool
    where doc_id not in (select doc_id from citing_pool)
) as anchors
order by node_id
