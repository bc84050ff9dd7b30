{% test unique_together(model, columns) %}
-- no two rows agree in all of these columns
select {{ columns | join(", ") }}, count(*) as n_rows
from {{ model }}
group by {{ columns | join(", ") }}
having count(*) > 1
{% endtest %}
