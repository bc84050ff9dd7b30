-- The applications that the crosswalk pairs with a grant, held by this lake or not, by the number of
-- the application or by that of any of its publications.
with pairs as (
    select
        pgpub_id,
        application_id,
        patent_id
    from {{ ref('stg_patentsview__pg_granted_pgpubs_crosswalk') }}
    where patent_id is not null
),

named as (
    select
        applications.doc_id,
        pairs.patent_id
    from {{ ref('int_task_applications') }} as applications
    inner join pairs on applications.application_id = pairs.application_id

    union

    select
        applications.doc_id,
        pairs.patent_id
    from {{ ref('int_task_applications') }} as applications
    inner join {{ ref('int_publications') }} as publications
        on applications.application_id = publications.application_id
    inner join pairs on publications.pgpub_id = pairs.pgpub_id
)

select
    named.doc_id,
    named.patent_id,
    sample.doc_id as sample_doc_id,
    sample.grant_year
from named
left join {{ ref('int_patents') }} as patents on named.patent_id = patents.patent_id
left join {{ ref('int_task_common_patent_sample') }} as sample
    on patents.doc_id = sample.doc_id
order by named.doc_id, named.patent_id
