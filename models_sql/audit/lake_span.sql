-- The years that a cutoff may be: from the declared first year to the last year with a document
-- or a text. A year after the present one is a fault of its record, so it does not count.
with dated as (
    select known_year
    from {{ ref('documents') }}

    union all

    select known_year
    from {{ ref('text_files') }}
)

select
    cast({{ var('first_year') }} as integer) as first_year,
    cast(greatest(
        {{ var('first_year') }},
        max(known_year) filter (where known_year <= extract(year from current_date))
    ) as integer) as last_year
from dated
