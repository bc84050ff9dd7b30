-- A view: int_citations, a table, keeps each pair once.
{{ config(materialized='view') }}
-- Every citation whose two ends have an id, citing to cited, of the three kinds; repeats kept.
-- Whether this lake holds both ends, and when, is decided in graph.citation_edges. A link that runs
-- through another record than those of its two documents (a merged id, a DOI of a merged record)
-- is known no earlier than that record.
with merged as (
    select corpus_id, doc_id, known_year
    from {{ ref('int_merged_ids') }}
)

select
    coalesce(citing.doc_id, citations.citing_corpus_id) as citing_id,
    coalesce(cited.doc_id, citations.cited_corpus_id) as cited_id,
    'paper_paper' as link,
    -- greatest() skips nulls: an id that was not merged, or has no date, asks for nothing.
    greatest(citing.known_year, cited.known_year) as link_year
from {{ ref('stg_s2ag__citations') }} as citations
left join merged as citing on citations.citing_corpus_id = citing.corpus_id
left join merged as cited on citations.cited_corpus_id = cited.corpus_id
where citations.cited_corpus_id is not null

union all

select
    {{ patent_doc_id('patent_id') }} as citing_id,
    {{ patent_doc_id('cited_patent_id') }} as cited_id,
    'patent_patent' as link,
    cast(null as integer) as link_year
from {{ ref('stg_patentsview__us_patent_citations') }}
where cited_patent_id is not null

union all

select
    citing_id,
    cited_id,
    'patent_paper' as link,
    link_year
from {{ ref('int_patent_paper_links') }}
where citing_id is not null and cited_id is not null
