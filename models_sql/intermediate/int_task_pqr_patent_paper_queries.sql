-- Every eligible query of pqr_patent_paper, and whether it was drawn.
{{
    task_queries(
        'pqr_patent_paper',
        eligible=ref('int_task_pqr_patent_paper_eligible'),
    )
}}
