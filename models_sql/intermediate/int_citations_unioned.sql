-- Every citation whose two ends have an id, citing to cited, of the three kinds; repeats kept.
-- Whether this lake holds both ends, and when, is decided in graph.citation_edges.
select
    citing_corpus_id as citing_id,
    cited_corpus_id as cited_id,
    'paper_paper' as link
from {{ ref('stg_s2ag__citations') }}
where cited_corpus_id is not null

union all

select
    {{ patent_doc_id('patent_id') }} as citing_id,
    {{ patent_doc_id('cited_patent_id') }} as cited_id,
    'patent_patent' as link
from {{ ref('stg_patentsview__us_patent_citations') }}
where cited_patent_id is not null

union all

select
    citing_id,
    cited_id,
    'patent_paper' as link
from {{ ref('int_patent_paper_links') }}
where citing_id is not null and cited_id is not null
