-- Every eligible query of same_inventor, and whether it was drawn.
{{ task_queries('same_inventor', eligible=ref('int_task_same_inventor_eligible')) }}
