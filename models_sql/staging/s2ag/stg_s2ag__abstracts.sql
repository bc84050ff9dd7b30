select
    corpusid as corpus_id,
    {{ clean_abstract('abstract') }} as abstract,
    {{ licence_code('license') }} as licence
from {{ read_source('s2ag', 'abstracts') }}
