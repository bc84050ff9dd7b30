{#- One raw table as a relation with the declared columns in the declared types.

    Everything is read as text by name. A record whose structure does not parse is set aside by
    the reader (store_rejects: ignore_errors alone loses the rest of a file after an open quote);
    one whose value does not cast to its declared type, or whose key is missing, is left out
    here. keep_rejects() writes both to the quarantine. An absent optional table is an empty
    relation of the same types. For column lineage (warehouse/lineage.py) it is the name alone. -#}
{% macro read_source(source_name, table_name) %}
    {%- set relation = source(source_name, table_name) -%}
    {%- if not execute -%}
        (select 1)
    {%- elif env_var("SCITLAKE_LINEAGE", "") -%}
        (select * from {{ source_name }}.{{ table_name }})
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
    {%- elif raw.format == "lines" -%}
        {%- do found.append((none, "no layout fits", "not is_valid")) -%}
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
            {%- set when = "is_valid and " if raw.format in ("jsonl", "lines") else "" -%}
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
    {%- elif is_parquet(files) -%}
        {{ parquet_records(raw, files, numbered) }}
    {%- elif raw.format in ("jsonl", "lines") -%}
        {{ line_records(raw, files, numbered) }}
    {%- else -%}
        ({%- for group in csv_groups(raw, files) -%}
            {{ csv_records(raw, group, loop.index0, numbered) }}
            {{ "union all by name" if not loop.last }}
        {%- endfor -%})
    {%- endif -%}
{% endmacro %}

{#- True for files that are read as Parquet: a table of JSON lines may be published as Parquet too, and
    one of its places is read, never two. -#}
{% macro is_parquet(files) %}
    {{ return(files | length > 0 and files[0].endswith(".parquet")) }}
{% endmacro %}

{#- Rejects go to temporary tables of the connection, one pair per raw table and header, because
    two scans that share a table in one query cannot be told apart. -#}
{% macro reader_options(raw, part) -%}
    filename = 'raw_file', auto_detect = false, store_rejects = true,
    rejects_table = 'rejects_{{ raw.id }}_{{ part }}', rejects_scan = 'scans_{{ raw.id }}_{{ part }}',
    max_line_size = {{ var("max_line_bytes") }}, buffer_size = {{ 2 * var("max_line_bytes") }}
{%- endmacro %}

{#- JSON lines and lines of fixed places are read as lines: the delimiter cannot occur in valid
    JSON nor in plain text, so a line is one field. unnest() of one element keeps the optimizer
    from taking the line apart once per condition on it. -#}
{% macro line_records(raw, files, numbered) -%}
    (
        select
            {%- for column in raw.columns %}
            {{ or_null(line_part(raw, column, loop.index)) }} as {{ column.name }},
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
                unnest([{{ line_parts(raw) }}]) as found
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

{#- The parts of a line: a list in the order of the columns from JSON, a struct by their names
    from a layout; null where the line is not valid. -#}
{% macro line_parts(raw) -%}
    case
        {%- if raw.format == "jsonl" %}
        when json_valid(raw_text)
        then json_extract_string(raw_text, {{ sql_strings(raw.columns | map(attribute="json")) }})
        {%- endif %}
        {%- for layout in raw.layouts %}
        when regexp_matches(raw_text, {{ sql_string(layout) }})
        then regexp_extract(raw_text, {{ sql_string(layout) }}, {{ sql_strings(raw.columns | map(attribute="name")) }})
        {%- endfor %}
    end
{%- endmacro %}

{% macro line_part(raw, column, position) -%}
    {{ "found[" ~ position ~ "]" if raw.format == "jsonl" else "trim(found." ~ column.name ~ ")" }}
{%- endmacro %}

{% macro parquet_records(raw, files, numbered) -%}
    {%- set schema = run_query(
        "select file_name, to_json(list(name order by name)) as names from parquet_schema("
        ~ file_list(files) ~ ") group by file_name order by file_name"
    ) -%}
    {%- for row in schema.rows -%}
        {{ check_header(raw, row[0], fromjson(row[1])) }}
    {%- endfor -%}
    {%- set types = {} -%}
    {%- for row in run_query(
        "describe select * from read_parquet(" ~ file_list(files) ~ ", union_by_name = true)"
    ).rows -%}
        {%- do types.update({row[0]: row[1]}) -%}
    {%- endfor -%}
    {{ check_texts(raw, files) }}
    (
        select
            {%- for column in raw.columns %}
            {{ parquet_value(column, types) }} as {{ column.name }},
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

{#- A declared column of Parquet files as text, or as it is where the declared type is not text; a
    field inside another one is taken by its JSON path, be that one a struct or a JSON string. -#}
{% macro parquet_value(column, types) -%}
    {%- set outer = top_name(column) -%}
    {%- set rest = column.json[outer | length + 2:] -%}
    {%- if outer not in types -%}
        cast(null as varchar)
    {%- elif rest -%}
        {%- set whole = "case when json_valid(" ~ outer ~ ") then " ~ outer ~ " end" if types[outer] == "VARCHAR" else "to_json(" ~ outer ~ ")" -%}
        {{ or_null("json_extract_string(" ~ whole ~ ", '$" ~ rest ~ "')") }}
    {%- elif column.type == "varchar" -%}
        {{ or_null(outer if types[outer] == "VARCHAR" else "cast(" ~ outer ~ " as varchar)") }}
    {%- else -%}
        {{ outer }}
    {%- endif -%}
{%- endmacro %}

{#- The outermost field of a column's JSON path: best_oa_location of $.best_oa_location.license. -#}
{% macro top_name(column) -%}
    {{ return(column.json.split(".")[1]) }}
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

{#- Files of one raw table, grouped by their header line: releases and years differ in order and
    in names. `columns` gives each place of the header the name of a declared column, or one of
    its own. -#}
{% macro csv_groups(raw, files) %}
    {%- set state = raw_state() -%}
    {%- set groups = {} -%}
    {%- for file in files -%}
        {%- set names = state.headers[file] -%}
        {{ check_header(raw, file, names) }}
        {%- set delimiter = state.delimiters[file] -%}
        {%- set group = groups.setdefault(delimiter ~ names | join("\t"), {
            "columns": csv_columns(raw, names), "delimiter": delimiter, "files": []
        }) -%}
        {%- do group.files.append(file) -%}
    {%- endfor -%}
    {{ return(groups.values() | list) }}
{% endmacro %}

{#- Of several names of one column that stand in the header the one declared first is read. -#}
{% macro csv_columns(raw, names) %}
    {%- set taken = {} -%}
    {%- for column in raw.columns -%}
        {%- set found = column.names | select("in", names) | first -%}
        {%- if found -%}{%- do taken.update({found: column.name}) -%}{%- endif -%}
    {%- endfor -%}
    {%- set columns = [] -%}
    {%- for name in names -%}
        {#- A name that stands twice is read once, at its first place. -#}
        {%- do columns.append(taken.pop(name, "undeclared_" ~ loop.index)) -%}
    {%- endfor -%}
    {{ return(columns) }}
{% endmacro %}

{% macro check_header(raw, file, names) %}
    {%- set missing = [] -%}
    {%- for column in raw.columns if not column.optional -%}
        {%- set known = [top_name(column)] if column.json != "$." ~ column.name else column.names -%}
        {%- if not known | select("in", names) | list -%}
            {%- do missing.append(known | join(" or ")) -%}
        {%- endif -%}
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
    (
        select
            {%- for column in raw.columns %}
            {{ or_null(column.name) if column.name in group.columns else 'cast(null as varchar)' }} as {{ column.name }},
            {%- endfor %}
            {{ "row_number() over () as record_number," if numbered }}
            raw_file,
            {% if numbered -%}
            array_to_string([
                {%- for name in group.columns %}coalesce({{ name }}, ''){{ ", " if not loop.last }}{% endfor -%}
            ], '{{ group.delimiter }}')
            {%- else -%}
            ''
            {%- endif %} as raw_text,
            true as is_valid
        from read_csv(
            {{ file_list(group.files) }},
            columns = {
                {%- for name in group.columns %}'{{ name }}': 'varchar'{{ ", " if not loop.last }}{% endfor -%}
            },
            header = true, delim = '{{ group.delimiter }}', quote = '"', escape = '"', {{ reader_options(raw, part) }}
            {{- ", parallel = false" if numbered }}
        )
    )
{%- endmacro %}
