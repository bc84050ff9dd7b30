{#- One raw table as a relation with the declared columns in the declared types.

    Everything is read as text by name. A record whose structure does not parse is set aside by
    the reader (store_rejects: ignore_errors alone loses the rest of a file after an open quote);
    one whose value does not cast to its declared type, or whose key is missing, is left out
    here. keep_rejects() writes both to the quarantine. An absent optional table is an empty
    relation of the same types. -#}
{% macro read_source(source_name, table_name) %}
    {%- set relation = source(source_name, table_name) -%}
    {%- if not execute -%}
        (select 1)
    {%- elif model.resource_type == "unit_test" -%}
        (select * from {{ relation }})
    {%- else -%}
        {%- set raw = raw_table(source_name, table_name) -%}
        {%- set files = raw_state().files[raw.key] -%}
        (
            select
                {%- for column in raw.columns %}
                {{ typed(column) }} as {{ column.name }}{{ "," if not loop.last }}
                {%- endfor %}
            from {{ raw_records(raw, files) }}
            where not {{ is_malformed(raw) }}
        )
    {%- endif -%}
{% endmacro %}

{#- A raw value in its declared type, null when it does not cast. -#}
{% macro typed(column) -%}
    {%- if column.type == "varchar" -%}
        {{ column.name }}
    {%- elif column.type.startswith("map(") -%}
        try_cast(try_cast({{ column.name }} as json) as {{ column.type }})
    {%- else -%}
        try_cast({{ column.name }} as {{ column.type }})
    {%- endif -%}
{%- endmacro %}

{#- An empty field is null; one with text in it is left as it is. -#}
{% macro or_null(value) -%}
    case when trim({{ value }}) <> '' then {{ value }} end
{%- endmacro %}

{#- What makes a record malformed: (column, reason, condition), each condition true, false or null.
    Together they touch every declared column, so that what the CSV reader rejects does not
    depend on the columns that a model happens to select. -#}
{% macro malformations(raw) %}
    {%- set found = [] -%}
    {%- if raw.format == "jsonl" -%}
        {%- do found.append((none, "not valid JSON", "not is_valid")) -%}
    {%- endif -%}
    {%- if raw.format in ("tsv", "csv") -%}
        {#- Files that were put together bring their headers along. -#}
        {%- set names = [] -%}
        {%- for column in raw.columns if not column.optional -%}
            {%- do names.append("lower(trim(" ~ column.name ~ ")) = '" ~ column.name ~ "'") -%}
        {%- endfor -%}
        {%- do found.append((none, "the header again", names | join(" and "))) -%}
    {%- endif -%}
    {%- for column in raw.columns -%}
        {%- if column.is_key -%}
            {%- set when = "is_valid and " if raw.format == "jsonl" else "" -%}
            {%- do found.append((column.name, "key is missing", when ~ column.name ~ " is null")) -%}
        {%- endif -%}
        {%- if column.pattern -%}
            {%- do found.append((column.name, "does not match " ~ column.pattern,
                "not regexp_full_match(" ~ column.name ~ ", " ~ sql_string(column.pattern) ~ ")")) -%}
        {%- elif column.type in ("integer", "bigint") -%}
            {#- 20.0 is an integer, 20.7 is not (a plain cast would round it), and a word casts to
                null both ways. -#}
            {%- do found.append((column.name, "not of type " ~ column.type,
                column.name ~ " is not null and (" ~ typed(column) ~ " is null or try_cast(" ~ column.name
                ~ " as double) is distinct from cast(" ~ typed(column) ~ " as double))")) -%}
        {%- elif column.type != "varchar" -%}
            {%- do found.append((column.name, "not of type " ~ column.type,
                column.name ~ " is not null and " ~ typed(column) ~ " is null")) -%}
        {%- elif raw.format in ("tsv", "csv") -%}
            {%- do found.append((column.name, "a lone NUL byte", column.name ~ " = chr(0)")) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{% endmacro %}

{% macro is_malformed(raw) -%}
    coalesce(
        {%- for column, reason, condition in malformations(raw) %}
        ({{ condition }}){{ " or" if not loop.last }}
        {%- endfor %}, false)
{%- endmacro %}

{#- All records of some files as text: raw_file, raw_text and the declared columns; an empty field
    is null. `numbered` reads one file in one thread and adds record_number, from 1. -#}
{% macro raw_records(raw, files, numbered=false) %}
    {%- if not files -%}
        (select {% for column in raw.columns %}cast(null as varchar) as {{ column.name }}, {% endfor -%}
            '' as raw_file, '' as raw_text, true as is_valid where false)
    {%- elif raw.format == "jsonl" -%}
        {{ json_records(raw, files, numbered) }}
    {%- elif raw.format == "parquet" -%}
        {{ parquet_records(raw, files, numbered) }}
    {%- else -%}
        ({%- for group in csv_groups(raw, files) -%}
            {{ csv_records(raw, group, loop.index0, numbered) }}
            {{ "union all by name" if not loop.last }}
        {%- endfor -%})
    {%- endif -%}
{% endmacro %}

{#- Rejects go to temporary tables of the connection, one pair per raw table and header, because
    two scans that share a table in one query cannot be told apart. -#}
{% macro reader_options(raw, part) -%}
    filename = 'raw_file', auto_detect = false, store_rejects = true,
    rejects_table = 'rejects_{{ raw.id }}_{{ part }}', rejects_scan = 'scans_{{ raw.id }}_{{ part }}',
    max_line_size = {{ var("max_line_bytes") }}, buffer_size = {{ 2 * var("max_line_bytes") }}
{%- endmacro %}

{#- JSON lines are read as lines: the delimiter cannot occur in valid JSON, so a line is one field.
    unnest() of one element keeps the optimizer from parsing the JSON once per condition on it. -#}
{% macro json_records(raw, files, numbered) -%}
    (
        select
            {%- for column in raw.columns %}
            {{ or_null("found[" ~ loop.index ~ "]") }} as {{ column.name }},
            {%- endfor %}
            {{ "record_number," if numbered }}
            raw_file,
            raw_text,
            found is not null as is_valid
        from (
            select
                raw_file,
                raw_text,
                {{ "record_number," if numbered }}
                unnest([
                    case
                        when json_valid(raw_text)
                        then json_extract_string(raw_text, {{ sql_strings(raw.columns | map(attribute="json")) }})
                    end
                ]) as found
            from (
                select * {{ ", row_number() over () as record_number" if numbered }}
                from read_csv(
                    {{ file_list(files) }},
                    columns = {'raw_text': 'varchar'}, header = false, quote = '', escape = '',
                    delim = e'\x01\x02\x03\x04', strict_mode = false, {{ reader_options(raw, 0) }}
                    {{- ", parallel = false" if numbered }}
                )
            )
            where trim(raw_text) <> ''
        )
    )
{%- endmacro %}

{% macro parquet_records(raw, files, numbered) -%}
    {%- set schema = run_query(
        "select file_name, to_json(list(name order by name)) as names from parquet_schema("
        ~ file_list(files) ~ ") group by file_name order by file_name"
    ) -%}
    {%- for row in schema.rows -%}
        {{ check_header(raw, row[0], fromjson(row[1])) }}
    {%- endfor -%}
    {{ check_texts(raw, files) }}
    (
        select
            {%- for column in raw.columns %}
            {{ or_null(column.name) if column.type == "varchar" else column.name }} as {{ column.name }},
            {%- endfor %}
            {{ "file_row_number + 1 as record_number," if numbered }}
            raw_file,
            '' as raw_text,
            true as is_valid
        from read_parquet(
            {{ file_list(files) }}, union_by_name = true, filename = 'raw_file'
            {{- ", file_row_number = true" if numbered }}
        )
    )
{%- endmacro %}

{#- A column of a Parquet file that is declared as text must be text: bytes would come as escapes. -#}
{% macro check_texts(raw, files) %}
    {%- set texts = raw.columns | selectattr("type", "equalto", "varchar") | map(attribute="name") | list -%}
    {%- for row in run_query(
        "select file_name, name from parquet_schema(" ~ file_list(files) ~ ") where list_contains("
        ~ sql_strings(texts) ~ ", name) and (num_children > 0 or type = 'BYTE_ARRAY'"
        ~ " and converted_type is null and logical_type is null) order by all"
    ).rows -%}
        {{ bad_input(row[0] ~ " has a column " ~ row[1] ~ " that is not text. Get the file again from "
            ~ raw.meta.get_it_from) }}
    {%- endfor -%}
{% endmacro %}

{#- Files of one raw table, grouped by their header line: releases and years differ in order. -#}
{% macro csv_groups(raw, files) %}
    {%- set headers = raw_state().headers -%}
    {%- set groups = {} -%}
    {%- for file in files -%}
        {%- set names = headers[file] -%}
        {{ check_header(raw, file, names) }}
        {%- set group = groups.setdefault(names | join("\t"), {"names": names, "files": []}) -%}
        {%- do group.files.append(file) -%}
    {%- endfor -%}
    {{ return(groups.values() | list) }}
{% endmacro %}

{% macro check_header(raw, file, names) %}
    {%- set missing = [] -%}
    {%- for column in raw.columns if not column.optional and column.name not in names -%}
        {%- do missing.append(column.name) -%}
    {%- endfor -%}
    {%- if missing -%}
        {{ bad_input(file ~ " has no column " ~ missing | join(", ") ~ ". Its header reads: "
            ~ (names | join(", ") or "nothing, the file is empty")
            ~ ". Get the file again from " ~ raw.meta.get_it_from
            ~ ", or rename the column in it to the declared name.") }}
    {%- endif -%}
{% endmacro %}

{#- The columns of a header group are given to the reader in the order of the file itself. -#}
{% macro csv_records(raw, group, part, numbered) -%}
    {%- set declared = raw.columns | map(attribute="name") | list -%}
    {%- set delimiter = "\\t" if raw.format == "tsv" else "," -%}
    (
        select
            {%- for column in raw.columns %}
            {{ or_null(column.name) if column.name in group.names else 'cast(null as varchar)' }} as {{ column.name }},
            {%- endfor %}
            {{ "row_number() over () as record_number," if numbered }}
            raw_file,
            {% if numbered -%}
            array_to_string([
                {%- for name in group.names %}coalesce({{ csv_name(name, declared, loop.index) }}, ''){{ ", " if not loop.last }}{% endfor -%}
            ], e'{{ delimiter }}')
            {%- else -%}
            ''
            {%- endif %} as raw_text,
            true as is_valid
        from read_csv(
            {{ file_list(group.files) }},
            columns = {
                {%- for name in group.names %}'{{ csv_name(name, declared, loop.index) }}': 'varchar'{{ ", " if not loop.last }}{% endfor -%}
            },
            header = true, delim = e'{{ delimiter }}', quote = '"', escape = '"', {{ reader_options(raw, part) }}
            {{- ", parallel = false" if numbered }}
        )
    )
{%- endmacro %}

{% macro csv_name(name, declared, position) -%}
    {{ name if name in declared else "undeclared_" ~ position }}
{%- endmacro %}
