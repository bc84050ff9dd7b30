{#- Post-hook of every staging model: the rows that did not arrive, with file, line, column and
    reason, in quarantine.<source>__<table>; and how many rows were read.

    A second scan counts; only when something is wrong are the files at fault read again in one
    thread, to number their records. `line` is the number of the record in its file, the header
    being 1 (as DuckDB counts: a record with line breaks inside it counts once).
    Undated rows stay in staging with no year; they are listed with counts = false. -#}
{% macro keep_rejects() %}
    {%- set raw = raw_table_of(model) if execute else none -%}
    {%- if raw -%}
        {%- set files = raw_state().files[raw.key] -%}
        {%- set target_table = "quarantine." ~ raw.id -%}
        {%- do run_query(
            "create or replace table " ~ target_table ~ " (file varchar, line bigint, column_name varchar,"
            ~ " reason varchar, raw varchar, counts boolean);"
            ~ " comment on table " ~ target_table ~ " is 'Rows of " ~ raw.key
            ~ " that did not arrive: malformed ones, and undated ones with counts = false.'"
        ) -%}
        {%- set parts = 0 if is_parquet(files) else (csv_groups(raw, files) if raw.format in ("tsv", "csv") else files[:1]) | length -%}
        {{ drop_rejects(raw, parts) }}
        {%- set scan = run_query(scan_of_files(raw, files)).rows[0] -%}
        {%- if not is_parquet(files) -%}
            {%- for part in range(parts) -%}
                {%- do run_query(insert_structural(raw, part, target_table)) -%}
                {%- if raw.format in ("tsv", "csv") -%}
                    {%- do run_query(insert_taken_along(raw, csv_groups(raw, files)[part], part, target_table)) -%}
                {%- endif -%}
            {%- endfor -%}
        {%- endif -%}
        {{ drop_rejects(raw, parts) }}
        {%- for file in fromjson(scan[2] or '[]') or [] -%}
            {{ bad_input(file ~ " has " ~ raw.columns | selectattr("filled") | map(attribute="json") | join(" or ")
                ~ " in none of its records. Has the field another name there? Get the file again from "
                ~ raw.meta.get_it_from) }}
        {%- endfor -%}
        {%- for file in fromjson(scan[1] or '[]') or [] -%}
            {%- do run_query(insert_values(raw, file, target_table)) -%}
            {{ drop_rejects(raw, 1) }}
        {%- endfor -%}
        {#- A file of another kind is one long record, or many: no matter of a bad row or two. -#}
        {%- for row in run_query(
            "select file, min(reason) from " ~ target_table ~ " where counts and not list_contains("
            ~ sql_strings(fromjson(scan[3] or '[]') or []) ~ "::varchar[], file) group by file having count(distinct line) >= 20 or max(length(raw)) >= "
            ~ var("quarantine_characters") ~ " order by file"
        ).rows -%}
            {{ bad_input(row[0] ~ " has no record of " ~ raw.key ~ " that can be read (" ~ row[1]
                ~ "). Is it another file, or in another encoding? Get it again from " ~ raw.meta.get_it_from) }}
        {%- endfor -%}
        {%- do run_query(
            "delete from quarantine.rows_read where source = " ~ sql_string(raw.source)
            ~ " and table_name = " ~ sql_string(raw.name)
        ) -%}
        {%- do run_query(
            "insert into quarantine.rows_read values (" ~ sql_string(raw.source) ~ ", " ~ sql_string(raw.name)
            ~ ", " ~ files | length ~ ", " ~ scan[0] ~ ")"
        ) -%}
    {%- endif -%}
{% endmacro %}

{#- One row: the well-formed records of all files; the files with a malformed or undated record; and
    those that have a field that is never empty in none of twenty records or more, because JSON has
    no header that would tell of a renamed field; and the files with a good record. -#}
{% macro scan_of_files(raw, files) -%}
    {%- set filled = raw.columns | selectattr("filled") | map(attribute="name") | list -%}
    select
        cast(coalesce(sum(n_good), 0) as bigint),
        to_json(list(raw_file order by raw_file) filter (n_faulty > 0)),
        to_json(list(raw_file order by raw_file) filter (
            n_good >= 20 and ({%- for name in filled %}n_{{ name }} = 0 or {% endfor %}false)
        )),
        to_json(list(raw_file) filter (n_good > 0))
    from (
        select
            raw_file,
            {%- for name in filled %}
            count({{ name }}) as n_{{ name }},
            {%- endfor %}
            count(*) filter (not malformed) as n_good,
            count(*) filter (malformed or undated) as n_faulty
        from (
            select
                raw_file,
                {%- for name in filled %}
                {{ name }},
                {%- endfor %}
                {{ is_malformed(raw) }} as malformed,
                {{ is_undated(raw) }} as undated
            from {{ raw_records(raw, files) }}
        )
        group by raw_file
    )
{%- endmacro %}

{#- True for a well-formed row that no year can be given to. -#}
{% macro is_undated(raw) -%}
    {%- if raw.year -%}({{ plausible_year(raw.year) }} is null){%- else -%}false{%- endif -%}
{%- endmacro %}

{#- A year before 1800 or to come is a typing error: null. -#}
{% macro plausible_year(year) -%}
    case
        when {{ year }} between 1800 and {{ var("last_plausible_year") or "extract(year from current_date)" }}
        then cast({{ year }} as integer)
    end
{%- endmacro %}

{% macro drop_rejects(raw, parts) %}
    {%- for part in range(parts) -%}
        {%- do run_query("drop table if exists temp.rejects_" ~ raw.id ~ "_" ~ part) -%}
        {%- do run_query("drop table if exists temp.scans_" ~ raw.id ~ "_" ~ part) -%}
    {%- endfor -%}
{% endmacro %}

{#- Records whose structure does not parse; of several errors in one, the first column's. -#}
{% macro insert_structural(raw, part, target_table) -%}
    insert into {{ target_table }}
    select
        scans.file_path,
        rejects.line,
        arg_min(rejects.column_name, coalesce(rejects.column_idx, 0)),
        lower(arg_min(cast(rejects.error_type as varchar), coalesce(rejects.column_idx, 0))),
        left(any_value(rejects.csv_line), {{ var("quarantine_characters") }}),
        true
    from temp.rejects_{{ raw.id }}_{{ part }} as rejects
    inner join temp.scans_{{ raw.id }}_{{ part }} as scans using (scan_id, file_id)
    group by scans.file_path, rejects.line
{%- endmacro %}

{#- A quote that is never closed takes the next line along: a good record, perhaps. Those of the
    lines that have as many fields as the header are listed by themselves. -#}
{% macro insert_taken_along(raw, group, part, target_table) -%}
    insert into {{ target_table }}
    select distinct
        scans.file_path,
        rejects.line,
        cast(null as varchar),
        'taken along by an open quote before it',
        left(rejects.taken, {{ var("quarantine_characters") }}),
        true
    from (
        select *, unnest(string_split(csv_line, chr(10))[2:]) as taken
        from temp.rejects_{{ raw.id }}_{{ part }}
        where error_type in ('UNQUOTED VALUE', 'UNTERMINATED QUOTES')
    ) as rejects
    inner join temp.scans_{{ raw.id }}_{{ part }} as scans using (scan_id, file_id)
    where length(taken) - length(replace(taken, {{ sql_string(group.delimiter) }}, '')) >= {{ group.columns | length - 1 }}
{%- endmacro %}

{#- Records that parse but hold a wrong value, and undated ones, of one file. The reader's own
    rejects hold a place in the file too: record n stands after those of them that come before. -#}
{% macro insert_values(raw, file, target_table) -%}
    insert into {{ target_table }}
    with earlier as (
        select line - row_number() over (order by line) as records_before
        from (select distinct line from {{ target_table }} where file = {{ sql_string(file) }})
    ),

    records as (
        select
            *,
            {{ is_malformed(raw) }} as malformed,
            [
                {%- for column, reason, condition in malformations(raw) %}
                case when {{ condition }} then {
                    'column_name': {{ sql_string(column) if column else "null" }}, 'reason': {{ sql_string(reason) }}, 'counts': true
                } end,
                {%- endfor %}
                case when {{ is_undated(raw) }} and not {{ is_malformed(raw) }} then {
                    'column_name': null, 'reason': 'undated', 'counts': false
                } end
            ] as problems
        from {{ raw_records(raw, [file], numbered=true) }}
    ),

    problems as (
        select
            record_number,
            raw_file,
            raw_text,
            unnest(list_filter(problems, lambda problem: problem is not null)) as problem
        from records
    )

    select
        raw_file,
        record_number
        + {{ 1 if raw.format in ("tsv", "csv") else 0 }}
        + (
            select count(*) from earlier
            where records_before {{ "- 1" if raw.format in ("tsv", "csv") }} < problems.record_number
        ),
        problem.column_name,
        problem.reason,
        -- An undated row is only named: they may be a few in a hundred of a large table.
        left(raw_text, case when problem.counts then {{ var("quarantine_characters") }} else 100 end),
        problem.counts
    from problems
{%- endmacro %}
