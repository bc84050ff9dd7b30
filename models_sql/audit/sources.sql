-- One row per declared raw table: whether it is there, what was read of it, what it is good for.
with declared as (
    {% for staged in staged_tables() %}
    select
        '{{ staged.raw.source }}' as source,
        '{{ staged.raw.name }}' as table_name,
        {{ staged.raw.meta.required }} as required,
        {{ "(select max(" ~ staged.year ~ ") from " ~ staged.relation ~ ")" if staged.year else "cast(null as integer)" }} as latest_year,
        {{ sql_string(staged.raw.meta.licence) }} as licence,
        {{ sql_string(staged.raw.meta.switches_on | join(", ")) }} as switches_on,
        {{ sql_string(staged.raw.meta.get_it_from) }} as get_it_from

    {{ "union all" if not loop.last }}
{% else %}
        select 1
    {% endfor %}
),

rejected as (
    select source, table_name, sum(n_rows) as n_rejected
    from {{ ref('quarantined') }}
    where counts
    group by source, table_name
)

select
    declared.source,
    declared.table_name,
    declared.required,
    coalesce(rows_read.n_files, 0) > 0 as present,
    coalesce(rows_read.n_files, 0) as n_files,
    coalesce(rows_read.n_rows, 0) as n_rows,
    cast(coalesce(rejected.n_rejected, 0) as bigint) as n_rejected,
    declared.latest_year,
    declared.licence,
    declared.switches_on,
    declared.get_it_from
from declared
left join quarantine.rows_read
    on declared.source = rows_read.source and declared.table_name = rows_read.table_name
left join rejected
    on declared.source = rejected.source and declared.table_name = rejected.table_name
order by declared.source, declared.table_name
