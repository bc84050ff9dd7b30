{#
  True where a text holds a character that is neither white space, a separator of any script, a
  control nor an invisible format character. DuckDB's trim() takes off blanks only.
#}
{% macro has_text(column) -%}
    coalesce(regexp_matches({{ column }}, '[^\s\p{Z}\p{Cc}\p{Cf}]'), false)
{%- endmacro %}


{# A blank line: what parts the sections of a long text. #}
{% macro blank_line() %}chr(10) || chr(10){% endmacro %}


{#
  Imports the four long texts of a patent (prefix g) or of a pre-grant publication (prefix pg)
  as CTEs of one row per document: summaries, descriptions, figures, claims.
  A section listed twice is taken once; figures and claims stand in the order of their sequence.
#}
{% macro import_long_text(prefix, key) %}
    {%- set stem = 'stg_patentsview__' ~ prefix -%}
    {%- set whole = {'summaries': ref(stem ~ '_brf_sum_text'), 'descriptions': ref(stem ~ '_detail_desc_text')} -%}
    {%- set parts = {
        'figures': [ref(stem ~ '_draw_desc_text'), 'draw_desc_sequence'],
        'claims': [ref(stem ~ '_claims'), 'claim_sequence'],
    } -%}
{%- for name, relation in whole.items() %}
{{ name }} as (
    select {{ key }}, text
    from {{ relation }}
    where {{ has_text('text') }}
    qualify row_number() over (partition by {{ key }} order by md5(text)) = 1
),
{% endfor %}
{%- for name, (relation, sequence) in parts.items() %}
{{ name }} as (
    select {{ key }}, string_agg(text, {{ blank_line() }} order by {{ sequence }}, text) as text
    from (select distinct {{ key }}, {{ sequence }}, text from {{ relation }})
    where {{ has_text('text') }}
    group by {{ key }}
),
{% endfor %}
{%- endmacro %}


{# Summary, description, figures and claims of a document in this order, or null. #}
{% macro long_text() -%}
    nullif(concat_ws(
        {{ blank_line() }}, summaries.text, descriptions.text, figures.text, claims.text
    ), '')
{%- endmacro %}


{# Joins the CTEs of import_long_text to a table that holds the key. #}
{% macro join_long_text(left, key) -%}
{%- for name in ['summaries', 'descriptions', 'figures', 'claims'] %}
    left join {{ name }} on {{ left }}.{{ key }} = {{ name }}.{{ key }}
{%- endfor %}
{%- endmacro %}
