-- The licences that are known by name, in the order in which they ask more.
{% for licence, rank, asks in licence_order() %}
    select
        '{{ licence }}' as licence,
        cast({{ rank }} as integer) as licence_rank,
        {{ sql_string(asks) }} as asks
    {{ "union all" if not loop.last }}
{% endfor %}
order by licence_rank, licence
