-- Patents of firms that venture capital backed, by a match that is sure enough, and as many of each
-- year whose assignee is known not to be backed.
with positives as (
    select
        doc_id,
        task_year,
        label_year
    from {{ ref('int_task_firms') }}
    where is_vc_backed and vc_score >= {{ var('min_vc_score') }}
),

candidates as (
    select
        doc_id,
        task_year,
        label_year
    from {{ ref('int_task_firms') }}
    where not is_vc_backed
),

{{ task_balanced_examples('vc_backed', 'backed', 'other') }}
