-- Every eligible query of pqr_paper_patent, and whether it was drawn.
{{
    task_queries(
        'pqr_paper_patent',
        eligible=ref('int_task_pqr_paper_patent_eligible'),
    )
}}
