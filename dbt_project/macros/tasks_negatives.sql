{#
  As many candidates of each year as that year has positives, in the order of the task's hash:
  how a task with a rare positive class is balanced. Documents that are positives are left out;
  a year with too few candidates gives all it has.

  positives, candidates: relations with (doc_id, task_year), one row per document.
  Source: paper, Appendix B ("sampling negatives in the same year to match the positives").
#}
{% macro task_year_matched_negatives(task, positives, candidates) -%}
    select
        ranked.doc_id,
        ranked.task_year
    from (
        select
            doc_id,
            task_year,
            row_number() over (
                partition by task_year
                order by {{ stable_rank('doc_id', 'negatives:' ~ task) }}, doc_id
            ) as year_rank
        from {{ candidates }}
        where doc_id not in (select doc_id from {{ positives }})
    ) as ranked
    inner join (
        select
            task_year,
            count(*) as n_positives
        from {{ positives }}
        group by task_year
    ) as wanted on ranked.task_year = wanted.task_year
    where ranked.year_rank <= wanted.n_positives
{%- endmacro %}
