select
    corpusid as corpus_id,
    abstract,
    license
from {{ read_source('s2ag', 'abstracts') }}
