-- The queries drawn for patent_paper_citation, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'patent_paper_citation',
        pairs=ref('int_task_patent_paper_citation_pairs'),
        documents=ref('int_task_documents'),
        corpus_size=var('corpus_papers'),
        queries=ref('int_task_patent_paper_citation_queries'),
    )
}}
