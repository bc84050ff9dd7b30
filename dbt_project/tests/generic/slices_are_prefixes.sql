{% test slices_are_prefixes(model, key) %}
-- the slice of a year is not the rows of the last slice that were known by then, so that some
-- slice is not part of the next
{% set first_year, last_year = lake_span_years() %}
{% set content %}count(*) as n_rows, bit_xor(hash({{ key | join(', ') }})) as content{% endset %}
{% for year in range(first_year, last_year + 1) %}
select {{ year }} as cutoff, slice.n_rows as n_slice, prefix.n_rows as n_prefix
from (select {{ content }} from {{ model }}({{ year }})) as slice
cross join (
    select {{ content }} from {{ model }}({{ last_year }}) where known_year <= {{ year }}
) as prefix
where (slice.n_rows, slice.content) is distinct from (prefix.n_rows, prefix.content)
{{ "union all" if not loop.last }}
{% endfor %}
{% endtest %}
