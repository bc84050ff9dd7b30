-- Patents whose assignee at filing is a university, a hospital or a government body, and as many of
-- each year whose assignee is known to be none.
with positives as (
    select
        doc_id,
        task_year,
        label_year
    from {{ ref('int_task_firms') }}
    where is_public
),

candidates as (
    select
        doc_id,
        task_year,
        label_year
    from {{ ref('int_task_firms') }}
    where not is_public
),

{{ task_balanced_examples('academic_public', 'public', 'other') }}
