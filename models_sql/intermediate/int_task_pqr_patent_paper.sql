-- The queries drawn for pqr_patent_paper, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'pqr_patent_paper',
        pairs=ref('int_task_pqr_patent_paper_pairs'),
        documents=ref('int_task_documents'),
        corpus_size=var('corpus_papers'),
        queries=ref('int_task_pqr_patent_paper_queries'),
    )
}}
