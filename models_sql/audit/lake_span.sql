-- The years that a cutoff may be: from the declared first year to the last year with a document
-- or a text. Implausible years are no years: staging has taken them away.
with dated as (
    select known_year
    from {{ ref('documents') }}

    union all

    select known_year
    from {{ ref('text_files') }}
)

select
    cast({{ var('first_year') }} as integer) as first_year,
    -- greatest() skips the null of a lake without a dated row.
    cast(greatest({{ var('first_year') }}, max(known_year)) as integer) as last_year
from dated
