{#
  A slice as a DuckDB table macro: `from graph.edges_asof(2013)`. One object, one lineage node,
  no data copied; the filter on the dated table is pushed down to its stored order.
  Config: parameters, a list of typed parameters with their defaults.
  Ours and not dbt-duckdb's `table_function`, which cannot carry a description.
#}
{% materialization asof_function, adapter='duckdb' %}
    {%- set target_relation = this.incorporate(type='view') -%}
    {%- set parameters = config.get('parameters', ['cutoff integer']) -%}
    {%- set last_year = lake_span_years()[1] -%}
    {# Without the catalogue's name, so that a lake attached under another name still works. #}
    {%- set catalogue = target_relation.include(schema=false, identifier=false) ~ '.' -%}

    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {% call statement('main') -%}
        create or replace macro {{ target_relation }}({{ parameters | join(', ') }}) as table (
            {{ sql | replace(catalogue, '') }}
        )
    {%- endcall %}

    {% if config.get('contract').enforced %}
        {% do get_assert_columns_equivalent(
            'select * from ' ~ target_relation ~ '(' ~ last_year ~ ')'
        ) %}
    {% endif %}
    {% if model.description %}
        {% do run_query(
            'comment on macro table ' ~ target_relation ~ " is '"
            ~ (model.description | replace("'", "''")) ~ "'"
        ) %}
    {% endif %}

    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#
  The asked cutoff, or an SQL error that names it and the years that this lake can be asked for.
  The span is written into the function as numbers, so that the whole expression is a constant:
  DuckDB then reads only the prefix of the table, and a wrong year is an error even where the
  slice would hold no row.
#}
{% macro checked_cutoff() %}
    {%- set span = ref('lake_span') -%}
    {%- set first_year, last_year = lake_span_years(span) -%}
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
