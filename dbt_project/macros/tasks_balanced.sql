{#
  The end of a model of two classes that are balanced within each year: all `positives`, as many of
  the `candidates` of their year, and the split of both together.

  positives, candidates: CTEs (doc_id, task_year, label_year), one row per document.
  Source: paper, Appendix B.
#}
{% macro task_balanced_examples(task, positive, negative) -%}
negatives as (
    {{ task_year_matched_negatives(task, 'positives', 'candidates') }}
),

examples as (
    select
        doc_id,
        task_year,
        label_year,
        '{{ positive }}' as label
    from positives

    union all

    select
        candidates.doc_id,
        candidates.task_year,
        candidates.label_year,
        '{{ negative }}' as label
    from candidates
    inner join negatives on candidates.doc_id = negatives.doc_id
)

select
    doc_id,
    task_year,
    label_year,
    label,
    {{ task_split('doc_id', 'task_year', task) }} as split
from examples
order by task_year, doc_id
{%- endmacro %}
