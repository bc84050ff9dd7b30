-- One row per raw table and reason. `counts` says whether the rows count toward the share of
-- malformed rows at which a build fails; undated ones do not.
{% for staged in staged_tables() -%}
select
    '{{ staged.raw.source }}' as source,
    '{{ staged.raw.name }}' as table_name,
    reason,
    counts,
    count(distinct (file, line, case when reason like 'taken along%' then raw end)) as n_rows
from quarantine.{{ staged.raw.id }}
group by reason, counts

{% if not loop.last %}
union all

{% endif %}
{%- else -%}
    select 1
{% endfor %}
order by source, table_name, reason
