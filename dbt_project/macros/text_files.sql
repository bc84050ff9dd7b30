{# FROM clause over a list of quoted paths of the text store. #}
{% macro read_text(files, with_file=false) -%}
    read_parquet(
        [{{ files | join(', ') }}],
        hive_partitioning = true,
        hive_types = {'known_year': integer, 'source': varchar}
        {%- if with_file %}, filename = 'file'{% endif %}
    )
{%- endmacro %}


{#
  FROM clause over every file of the text store in the slice's stored order (known_year, source,
  doc_id): DuckDB keeps the order of the list. `text_files` is audit.text_files.
#}
{% macro read_text_store(text_files) -%}
    {%- set files = listed_files(text_files) if execute is defined and execute else [] -%}
    {%- if execute and env_var("SCITLAKE_LINEAGE", "") -%}
        {#- Column lineage goes through the files to the models that write them. -#}
        (
            {%- for node in graph.nodes.values() if node.config.materialized == "text_store" %}
            select
                doc_id, source, known_year, public_year, filing_year, text, publisher_licence, licence
            from {{ node.relation_name }}
            {{ "union all" if not loop.last }}
            {%- endfor %}
        )
    {%- elif files -%}
        {{ read_text(files) }}
    {%- else -%}
        (
            select
                cast(null as bigint) as doc_id, cast(null as varchar) as source,
                cast(null as integer) as known_year, cast(null as integer) as public_year,
                cast(null as integer) as filing_year, cast(null as varchar) as text,
                cast(null as varchar) as publisher_licence,
                cast(null as varchar) as licence
            where false
        )
    {%- endif -%}
{%- endmacro %}


{# The quoted paths of audit.text_files in the stored order; none while it is not built. #}
{% macro listed_files(text_files) %}
    {%- set files = [] -%}
    {%- if load_relation(text_files) is not none -%}
        {%- for row in run_query(
            'select path from ' ~ text_files ~ ' order by known_year, source, first_doc_id'
        ).rows -%}
            {%- do files.append(sql_string(row[0])) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(files) }}
{% endmacro %}


{#
  The lake folder as an absolute path. A relative SCITLAKE_WAREHOUSE is the folder of the DuckDB
  file that is open, whose path DuckDB has made absolute.
#}
{% macro lake_folder() %}
    {%- set folder = env_var('SCITLAKE_WAREHOUSE', 'warehouse/lake') -%}
    {%- if folder.startswith('/') or not execute -%}
        {{ return(folder.rstrip('/')) }}
    {%- endif -%}
    {%- set file = run_query(
        'select path from duckdb_databases() where database_name = current_database()'
    ).rows[0][0] -%}
    {{ return(file.rsplit('/', 1)[0]) }}
{% endmacro %}
