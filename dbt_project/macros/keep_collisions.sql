{#- Post-hook after keep_rejects(), for a raw table whose doc_id is a hash of its id: a record
    whose doc_id belongs to another id that was known no later is listed in the quarantine as
    id_collision. It is well-formed, so it does not count. It stays in staging; the models above
    leave it out by the same order (year, tie-break, id).

    doc_id: an SQL expression of the raw columns; id, tie_break: raw columns. -#}
{% macro keep_collisions(doc_id, id, tie_break) %}
    {%- set raw = raw_table_of(model) if execute else none -%}
    {%- set files = raw_state().files[raw.key] if raw else [] -%}
    {%- if files -%}
        insert into quarantine.{{ raw.id }}
        with records as (
            select
                {{ id }} as id, {{ doc_id }} as doc_id, {{ plausible_year(raw.year) }} as known_year,
                {{ tie_break }} as tie_break, raw_file, record_number
            from {{ raw_records(raw, files, numbered=true) }}
            where not {{ is_malformed(raw) }} and not {{ is_undated(raw) }}
        ),

        shared as (
            select doc_id from records group by doc_id having min(id) <> max(id)
        ),

        ranked as (
            select
                *,
                first_value(id) over (
                    partition by doc_id order by known_year, tie_break, id
                ) as keeper
            from records
            where doc_id in (select doc_id from shared)
        )

        select
            raw_file, record_number, {{ sql_string(id) }}, 'id_collision',
            id || ' has the doc_id of ' || keeper, false
        from ranked
        where id <> keeper
    {%- endif -%}
{% endmacro %}
