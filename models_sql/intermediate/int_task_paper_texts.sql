-- OpenAlex works with a title, an abstract and a year that are papers: no paratext, nothing
-- retracted, none of the low-quality extension. A view: the text is stored in staging. Of several
-- records of a work the one of the earliest year counts, then the lowest by its text.
{{ config(materialized='view') }}

select
    work_id,
    doc_id,
    publication_year,
    title,
    abstract
from {{ ref('stg_openalex__works') }}
where
    publication_year is not null
    and {{ has_text('title') }}
    and {{ has_text('abstract') }}
    and not coalesce(is_paratext, false)
    and not coalesce(is_retracted, false)
    and not coalesce(is_xpac, false)
qualify row_number() over (
    partition by work_id order by publication_year, md5(abstract), title
) = 1
