-- Every eligible query of ppp_paper_patent, and whether it was drawn.
{{
    task_queries(
        'ppp_paper_patent',
        eligible=ref('int_task_ppp_paper_patent_eligible'),
    )
}}
