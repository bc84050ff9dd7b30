-- The queries drawn for paper_patent_retrieval, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'paper_patent_retrieval',
        pairs=ref('int_task_paper_patent_retrieval_pairs'),
        documents=ref('int_task_documents'),
        corpus_size=var('corpus_patents'),
        queries=ref('int_task_paper_patent_retrieval_queries'),
    )
}}
