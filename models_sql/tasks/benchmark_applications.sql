-- The pre-grant applications of the benchmark, with their text.
select
    applications.doc_id,
    applications.filing_year,
    published.title,
    abstracts.abstract
from {{ ref('int_task_grant_abandon') }} as examples
inner join {{ ref('int_task_applications') }} as applications
    on examples.doc_id = applications.doc_id
inner join {{ ref('stg_patentsview__pg_published_applications') }} as published
    on applications.pgpub_id = published.pgpub_id
inner join {{ ref('stg_patentsview__pg_abstracts') }} as abstracts
    on applications.pgpub_id = abstracts.pgpub_id
where {{ has_text('published.title') }} and {{ has_text('abstracts.abstract') }}
qualify
    row_number() over (
        partition by applications.doc_id order by published.title, abstracts.abstract
    ) = 1
