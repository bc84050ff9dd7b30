-- Every eligible query of paper_patent_retrieval, and whether it was drawn.
{{
    task_queries(
        'paper_patent_retrieval',
        eligible=ref('int_task_paper_patent_retrieval_eligible'),
    )
}}
