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
