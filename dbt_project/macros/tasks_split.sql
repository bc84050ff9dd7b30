{#
  'train' or 'test' for each example: the first test_share (rounded down) of each year in the
  order of the task's hash is test; a year with fewer than min_year_examples is all train.
  Windows reach over one year only, so another year of data moves no earlier row.
  The share is a decimal: 0.2 * 5 in binary floating point may round to either side of 1.
  Source: paper, Appendix B.5; the hash is our choice.
#}
{% macro task_split(doc_id, year, task) -%}
    case
        when count(*) over (partition by {{ year }}) < {{ var('min_year_examples') }}
            then 'train'
        when
            row_number() over (
                partition by {{ year }}
                order by {{ stable_rank(doc_id, task) }}, {{ doc_id }}
            ) <= floor(
                cast({{ var('test_share') }} as decimal(9, 6))
                * count(*) over (partition by {{ year }})
            )
            then 'test'
        else 'train'
    end
{%- endmacro %}
