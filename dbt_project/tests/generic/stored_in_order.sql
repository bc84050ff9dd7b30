{% test stored_in_order(model, columns, within=none) %}
-- a row does not follow the row stored before it; `within` is the Parquet file that holds both
{% set position = 'file_row_number' if within else 'rowid' %}
{% set row_before = [] %}
{% for column in columns %}
{% do row_before.append('lag(' ~ column ~ ') over before') %}
{% endfor %}
{% if within %}
{# Not built yet, as for `dbt docs`: no file. #}
{% set files = [] %}
{% if execute and load_relation(model) is not none %}
{% set files = run_query('select distinct ' ~ within ~ ' from ' ~ model).columns[0].values() %}
{% endif %}
{% endif %}
with stored as (
    {% if within and not files %}
    select 0 as {{ columns | join(', 0 as ') }}, 0 as file_row_number, '' as {{ within }} where false
    {% elif within %}
    select {{ columns | join(', ') }}, file_row_number, {{ within }}
    from read_parquet(
        [{% for file in files %}'{{ file | replace("'", "''") }}'{{ ", " if not loop.last }}{% endfor %}],
        file_row_number = true, filename = '{{ within }}', hive_partitioning = false
    )
    {% else %}
    select {{ columns | join(', ') }}, rowid
    from {{ model }}
    {% endif %}
),

steps as (
    select
        {{ columns | join(', ') }},
        row({{ row_before | join(', ') }}) as row_before,
        row_number() over before as place
    from stored
    window before as (
        {{ 'partition by ' ~ within if within }} order by {{ position }}
    )
)

select {{ columns | join(', ') }}
from steps
where place > 1 and row_before >= row({{ columns | join(', ') }})
{% endtest %}
