select
    citationid as citation_id,
    citingcorpusid as citing_corpus_id,
    citedcorpusid as cited_corpus_id,
    isinfluential as is_influential
from {{ read_source('s2ag', 'citations') }}
