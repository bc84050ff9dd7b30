{#
  The end of a model of two classes that are balanced within each year: all `positives`, as many of
  the `candidates` of their year, and the split of both together.

  positives, candidates: CTEs (doc_id, task_year, label_year), one row per document.
  even: where a year has too few candidates, as many positives of it are left out, in the order of
      their hash; else they stay.
  Source: paper, Appendix B.
#}
{% macro task_balanced_examples(task, positive, negative, even=false) -%}
negatives as (
    {{ task_year_matched_negatives(task, 'positives', 'candidates') }}
),

{% if even %}
kept as (
    select
        ranked.doc_id,
        ranked.task_year,
        ranked.label_year
    from (
        select
            doc_id,
            task_year,
            label_year,
            row_number() over (
                partition by task_year
                order by {{ stable_rank('doc_id', 'positives:' ~ task) }}, doc_id
            ) as year_rank
        from positives
    ) as ranked
    inner join (
        select
            task_year,
            count(*) as n_negatives
        from negatives
        group by task_year
    ) as drawn on ranked.task_year = drawn.task_year
    where ranked.year_rank <= drawn.n_negatives
),
{% endif %}

examples as (
    select
        doc_id,
        task_year,
        label_year,
        '{{ positive }}' as label
    from {{ 'kept' if even else 'positives' }}

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
