{#
  A draw's order key: md5 of the seed, a salt and the id. It depends on nothing else (not on
  threads, row order, engine version or rows of other years). Break ties by the id.
  cutoff: an SQL expression that salts the key too, for what is drawn anew at each cutoff.
#}
{% macro stable_rank(id, salt, cutoff=none) -%}
    md5(
        '{{ var("seed") }}:{{ salt }}{{ "-" if cutoff }}' ||
        {%- if cutoff %} cast({{ cutoff }} as varchar) ||{% endif %} ':' || cast({{ id }} as varchar)
    )
{%- endmacro %}
