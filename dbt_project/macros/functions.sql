{# dbt's `functions:` has no SQL for DuckDB in dbt-duckdb 1.11; DuckDB spells it CREATE MACRO. #}
{% macro duckdb__scalar_function_sql(target_relation) %}
    create or replace macro {{ target_relation.render() }}(
        {{ model.arguments | map(attribute='name') | join(', ') }}
    ) as ({{ model.compiled_code }})
{% endmacro %}
