-- The queries drawn for ppp_paper_patent, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'ppp_paper_patent',
        pairs=ref('int_task_ppp_paper_patent_pairs'),
        documents=ref('int_task_documents'),
        corpus_size=var('corpus_patents'),
        queries=ref('int_task_ppp_paper_patent_queries'),
    )
}}
