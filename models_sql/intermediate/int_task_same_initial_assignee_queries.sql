-- Every eligible query of same_initial_assignee, and whether it was drawn.
{{
    task_queries(
        'same_initial_assignee',
        eligible=ref('int_task_same_initial_assignee_eligible'),
        at_most=var('initial_assignee_queries'),
    )
}}
