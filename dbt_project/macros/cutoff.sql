{#
  The asked cutoff, or an SQL error that names it and the years that this lake can be asked for.
  The span is written into the function as numbers, so that the whole expression is a constant:
  DuckDB then reads only the prefix of the table, and a wrong year is an error even where the
  slice would hold no row.
#}
{% macro checked_cutoff() -%}
    {%- set span = ref('lake_span') -%}
    {%- set first_year, last_year = [var('first_year'), var('first_year')] -%}
    {%- if execute is defined and execute -%}
        {%- set first_year, last_year = lake_span_years(span) -%}
    {%- endif -%}
    case
        when cutoff between {{ first_year }} and {{ last_year }} then cutoff
        else error(
            'cutoff ' || coalesce(cast(cutoff as varchar), 'null')
            || ' is outside this lake, which spans {{ first_year }}-{{ last_year }}'
        )
    end
{%- endmacro %}


{#
  First and last year of audit.lake_span; the declared first year twice while it is not built
  (dbt compile, dbt docs).
#}
{% macro lake_span_years(relation=none) %}
    {%- set fallback = [var('first_year'), var('first_year')] -%}
    {%- if not execute -%}{{ return(fallback) }}{%- endif -%}
    {%- set span = load_relation(relation or api.Relation.create(
        database=target.database, schema='audit', identifier='lake_span'
    )) -%}
    {%- if span is none -%}{{ return(fallback) }}{%- endif -%}
    {%- set rows = run_query('select first_year, last_year from ' ~ span).rows -%}
    {%- if not rows -%}{{ return(fallback) }}{%- endif -%}
    {{ return([rows[0][0] | int, rows[0][1] | int]) }}
{% endmacro %}
