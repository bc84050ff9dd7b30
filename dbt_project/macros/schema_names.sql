{#- Schemas are named as in the project file (staging, corpus, ...), with no user prefix. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ (custom_schema_name or target.schema) | trim }}
{%- endmacro %}
