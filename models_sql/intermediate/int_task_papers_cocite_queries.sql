-- Every eligible query of papers_cocite, and whether it was drawn.
{{
    task_queries(
        'papers_cocite',
        eligible=ref('int_task_papers_cocite_eligible'),
    )
}}
