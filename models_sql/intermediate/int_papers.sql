-- One row per Semantic Scholar paper, dated or not, with its abstract where it has one.
-- Of several records of one id the one known first wins, then the lowest by its text.
with papers as (
    select corpus_id, doi, title, year
    from {{ ref('stg_s2ag__papers') }}
    qualify row_number() over (partition by corpus_id order by year, title, doi) = 1
),

abstracts as (
    select corpus_id, abstract
    from {{ ref('stg_s2ag__abstracts') }}
    where {{ has_text('abstract') }}
    qualify row_number() over (partition by corpus_id order by md5(abstract)) = 1
)

select
    papers.corpus_id as doc_id,
    's2:' || papers.corpus_id as doc_uri,
    papers.doi,
    papers.year as known_year,
    papers.title,
    abstracts.abstract
from papers
left join abstracts on papers.corpus_id = abstracts.corpus_id
