{#- What the plugin found before the first query: the raw folder, the files of each raw table by
    `source.table`, and a line for each required table that has none. -#}
{% macro raw_state() %}
    {%- set state = run_query("select getvariable('raw')").rows[0][0] -%}
    {%- if not state -%}
        {{ exceptions.raise_compiler_error("the plugin warehouse.plugin is not in profiles.yml, so nothing says where the raw files lie") }}
    {%- endif -%}
    {{ return(fromjson(state)) }}
{% endmacro %}

{#- A mistake in the raw files that a person can mend; `lake build` prints what follows the mark. -#}
{% macro bad_input(message) %}
    {{ exceptions.raise_compiler_error("bad input: " ~ message) }}
{% endmacro %}

{% macro sql_string(value) %}'{{ value | string | replace("'", "''") }}'{% endmacro %}

{% macro sql_strings(values) -%}
    [{%- for value in values -%}{{ sql_string(value) }}{{ ", " if not loop.last }}{%- endfor -%}]
{%- endmacro %}

{#- Files for a reader of DuckDB, which takes * ? [ in a name for a pattern. -#}
{% macro file_list(files) -%}
    {%- set names = [] -%}
    {%- for file in files -%}
        {%- do names.append(file | replace("[", "[[]") | replace("*", "[*]") | replace("?", "[?]")) -%}
    {%- endfor -%}
    {{ sql_strings(names) }}
{%- endmacro %}

{#- A raw table as its YAML declares it. A column may bear other names in other releases
    (also_called); the lines of a text file are cut by the first of the layouts that fits. -#}
{% macro raw_table(source_name, table_name) %}
    {%- for node in graph.sources.values() if node.source_name == source_name and node.name == table_name -%}
        {%- set columns = [] -%}
        {%- for column in node.columns.values() -%}
            {%- set meta = column.config.meta or column.meta or {} -%}
            {%- do columns.append({
                "name": column.name,
                "names": [column.name] + meta.get("also_called", []),
                "type": column.data_type,
                "json": meta.get("json", "$." ~ column.name),
                "is_key": meta.get("key", false),
                "optional": meta.get("optional", false),
                "filled": meta.get("filled", false),
                "pattern": meta.get("pattern"),
            }) -%}
        {%- endfor -%}
        {{ return({
            "key": source_name ~ "." ~ table_name,
            "id": source_name ~ "__" ~ table_name,
            "source": source_name,
            "name": table_name,
            "format": node.meta.format,
            "layouts": node.meta.get("layouts", []),
            "long_text": node.meta.get("long_text", false),
            "year": node.meta.get("year"),
            "columns": columns,
            "meta": node.meta,
        }) }}
    {%- endfor -%}
    {{ exceptions.raise_compiler_error("no source table " ~ source_name ~ "." ~ table_name) }}
{% endmacro %}

{#- The raw table behind a staging model; none for any other model. -#}
{% macro raw_table_of(node) %}
    {%- for dependency in node.depends_on.nodes if dependency in graph.sources -%}
        {%- set found = graph.sources[dependency] -%}
        {{ return(raw_table(found.source_name, found.name)) }}
    {%- endfor -%}
    {{ return(none) }}
{% endmacro %}

{#- on-run-start: one message for all required raw tables that the selected models read and that
    have no file; and the schema where rejected rows go. -#}
{% macro assert_sources_present() %}
    {%- if execute and flags.WHICH in ("build", "run", "test") -%}
        {%- set state = raw_state() -%}
        {%- set lines = [] -%}
        {%- for id in selected_resources if id in graph.nodes -%}
            {%- set raw = raw_table_of(graph.nodes[id]) -%}
            {%- if raw and raw.key in state.missing and state.missing[raw.key] not in lines -%}
                {%- do lines.append(state.missing[raw.key]) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if lines -%}
            {{ bad_input("DATA_ROOT=" ~ state.root ~ " lacks " ~ lines | length ~ " required raw table(s):\n  " ~ lines | sort | join("\n  ")) }}
        {%- endif -%}
        {%- do run_query("create schema if not exists quarantine") -%}
        {%- do run_query(
            "create table if not exists quarantine.rows_read"
            ~ " (source varchar, table_name varchar, n_files bigint, n_rows bigint);"
            ~ " comment on table quarantine.rows_read is 'Files and well-formed rows of each raw table.'"
        ) -%}
    {%- endif -%}
{% endmacro %}
