-- Every eligible query of patent_paper_citation, and whether it was drawn.
{{
    task_queries(
        'patent_paper_citation',
        eligible=ref('int_task_patent_paper_citation_eligible'),
    )
}}
