-- The Parquet files of the text store that this lake reads; any other file under text/ belongs
-- to a build that was replaced or did not finish, and may be removed.
with stored as (
    {% for source in ['s2orc', 'abstracts', 'uspto', 'granted', 'fineweb_edu'] %}
        select file, source, known_year, doc_id
        from {{ ref('int_text_' ~ source) }}
        {{ "union all" if not loop.last }}
    {% endfor %}
)

select
    file as path,
    source,
    known_year,
    count(*) as n_rows,
    min(doc_id) as first_doc_id
from stored
group by file, source, known_year
order by known_year, source, first_doc_id
