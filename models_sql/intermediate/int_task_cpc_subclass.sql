-- Sample patents with a CPC section, each with those of its subclasses that are among the most
-- frequent of the sample. All of a patent's classes count; one with none of those is left out.
with codes as (
    select distinct
        sample.doc_id,
        sample.grant_year,
        cpc.cpc_subclass
    from {{ ref('stg_patentsview__cpc_current') }} as cpc
    inner join {{ ref('int_patents') }} as patents
        on cpc.patent_id = patents.patent_id
    inner join {{ ref('int_task_common_patent_sample') }} as sample
        on patents.doc_id = sample.doc_id
    where cpc.cpc_subclass is not null and sample.cpc_section <> '?'
),

frequent as (
    select cpc_subclass
    from codes
    group by cpc_subclass
    order by count(*) desc, cpc_subclass
    limit {{ var('frequent_subclasses') }}
),

examples as (
    select
        doc_id,
        grant_year as task_year,
        list(cpc_subclass order by cpc_subclass) as label
    from codes
    where cpc_subclass in (select frequent.cpc_subclass from frequent)
    group by doc_id, grant_year
)

select
    doc_id,
    task_year,
    task_year as label_year,
    label,
    {{ task_split('doc_id', 'task_year', 'cpc_subclass') }} as split
from examples
order by task_year, doc_id
