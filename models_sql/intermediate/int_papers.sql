-- One row per Semantic Scholar paper, dated or not, with its abstract where it has one. Records of
-- merged ids are the paper of int_merged_ids. Of several records of one id the one known first
-- wins, then the lowest by its text. An abstract of the paper's own id comes first; one of a merged
-- record fills the place of a missing one, from the year of that record on.
with merged as (
    select corpus_id, doc_id, known_year
    from {{ ref('int_merged_ids') }}
),

papers as (
    select corpus_id as doc_id, doi, title, year
    from {{ ref('stg_s2ag__papers') }}
    where corpus_id not in (select corpus_id from merged)
    qualify row_number() over (partition by corpus_id order by year, title, doi) = 1
),

abstracts as (
    select
        coalesce(merged.doc_id, abstracts.corpus_id) as doc_id,
        merged.known_year as abstract_year,
        abstracts.abstract,
        abstracts.licence
    from {{ ref('stg_s2ag__abstracts') }} as abstracts
    left join merged on abstracts.corpus_id = merged.corpus_id
    where {{ has_text('abstracts.abstract') }}
    qualify row_number() over (
        partition by coalesce(merged.doc_id, abstracts.corpus_id)
        order by
            merged.known_year nulls first,
            merged.corpus_id nulls first,
            md5(abstracts.abstract)
    ) = 1
)

select
    papers.doc_id,
    's2:' || papers.doc_id as doc_uri,
    papers.doi,
    papers.year as known_year,
    papers.title,
    abstracts.abstract,
    abstracts.abstract_year,
    abstracts.licence
from papers
left join abstracts on papers.doc_id = abstracts.doc_id
