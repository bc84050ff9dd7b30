{% test no_row_after_cutoff(model, year_column='known_year', options='') %}
-- an as-of function gives a row dated after its cutoff, or not dated at all
{% set first_year, last_year = lake_span_years() %}
{% for year in range(first_year, last_year + 1) %}
select {{ year }} as cutoff, count(*) as n_late
from {{ model }}({{ year }}{{ ', ' ~ options if options }})
where {{ year_column }} > {{ year }} or {{ year_column }} is null
having count(*) > 0
{{ "union all" if not loop.last }}
{% endfor %}
{% endtest %}
