-- The macro on rows made by hand: 2001 has two positives, 2002 one and 2003 one without any
-- candidate. The two that come first in the order of the hash are 7 and 1 (of 1, 3, 7); 11 would
-- come before them but is a positive.
{% set positives %}(
    values (11, 2001), (12, 2001), (13, 2002), (14, 2003)
) as positives (doc_id, task_year){% endset %}
{% set candidates %}(
    values (1, 2001), (3, 2001), (7, 2001), (11, 2001), (5, 2002), (6, 2004)
) as candidates (doc_id, task_year){% endset %}

with negatives as (
    {{ task_year_matched_negatives('example', positives, candidates) }}
),

expected (doc_id, task_year) as (values (7, 2001), (1, 2001), (5, 2002))

(
    select doc_id, task_year from negatives
    except
    select doc_id, task_year from expected
)
union all
(
    select doc_id, task_year from expected
    except
    select doc_id, task_year from negatives
)
