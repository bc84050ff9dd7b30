-- The logarithm of a patent's real value, of every valued patent with text.
with examples as (
    select
        patents.doc_id,
        patents.filing_year as task_year,
        greatest(
            patents.filing_year, patents.grant_year, values_of.known_year
        ) as label_year,
        ln(values_of.xi_real) as label
    from {{ ref('int_patent_values') }} as values_of
    inner join {{ ref('int_task_patents') }} as patents
        on values_of.doc_id = patents.doc_id
    where patents.filing_year is not null and values_of.xi_real > 0
)

select
    doc_id,
    task_year,
    label_year,
    label,
    {{ task_split('doc_id', 'task_year', 'kogan_value') }} as split
from examples
order by task_year, doc_id
