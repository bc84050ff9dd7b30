{#
  on-run-end: one schema per cutoff with a view over each as-of function, so that any SQL tool
  lists the slices: y2013.edges is graph.edges_asof(2013). No data is copied. Years that the lake
  no longer spans lose their schema; a run in which a model failed leaves everything as it is.
#}
{% macro create_year_views() %}
    {% if not execute or flags.WHICH not in ('build', 'run') %}{{ return('') }}{% endif %}
    {% set failed = results | selectattr('status', 'in', ['error', 'fail']) | list %}
    {% set failed = failed | selectattr('node.resource_type', 'equalto', 'model') | list %}
    {% set slices = asof_functions() %}
    {% if failed or not slices %}{{ return('') }}{% endif %}
    {% set first_year, last_year = lake_span_years() %}
    {% set statements = [] %}
    {% for schema in run_query(
        "select schema_name from information_schema.schemata where catalog_name = current_database()"
        ~ " and regexp_full_match(schema_name, 'y[0-9]{4}')"
    ).columns[0].values() %}
        {% if schema[1:] | int < first_year or schema[1:] | int > last_year %}
            {% do statements.append('drop schema ' ~ schema ~ ' cascade') %}
        {% endif %}
    {% endfor %}
    {% for year in range(first_year, last_year + 1) %}
        {% do statements.append('create schema if not exists y' ~ year) %}
        {% for view, function in slices.items() %}
            {% do statements.append(
                'create or replace view y' ~ year ~ '.' ~ view
                ~ ' as select * from ' ~ function ~ '(' ~ year ~ ')'
            ) %}
        {% endfor %}
    {% endfor %}
    {% do run_query(statements | join(';\n')) %}
    {% do adapter.commit() %}
{% endmacro %}


{# The as-of functions that stand in the open database: name of their yearly view -> function. #}
{% macro asof_functions() %}
    {% set wanted = {
        'documents': 'corpus.documents_asof', 'pretrain_text': 'corpus.pretrain_asof',
        'edges': 'graph.edges_asof', 'nodes': 'graph.nodes_asof', 'anchors': 'graph.anchors_asof',
    } %}
    {% set found = run_query(
        "select schema_name || '.' || function_name from duckdb_functions()"
        ~ " where database_name = current_database() and function_type = 'table_macro'"
    ).columns[0].values() %}
    {% set present = {} %}
    {% for view, function in wanted.items() if function in found %}
        {% do present.update({view: function}) %}
    {% endfor %}
    {{ return(present) }}
{% endmacro %}
