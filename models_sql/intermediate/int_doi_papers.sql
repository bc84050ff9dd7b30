-- The one paper that a DOI stands for. Where several papers carry it, the one whose record with the
-- DOI was known first wins, then the lowest id: never the most cited, which later years would
-- change. A record of a merged id gives its DOI to the paper, from the record's own year on.
with records as (
    select
        papers.doi,
        coalesce(merged.doc_id, papers.corpus_id) as doc_id,
        papers.year as known_year
    from {{ ref('stg_s2ag__papers') }} as papers
    left join {{ ref('int_merged_ids') }} as merged
        on papers.corpus_id = merged.corpus_id
    where papers.doi is not null
)

select doi, doc_id, known_year
from records
qualify row_number() over (partition by doi order by known_year, doc_id) = 1
