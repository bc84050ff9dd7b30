-- The queries drawn for papers_cocite, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'papers_cocite',
        pairs=ref('int_task_papers_cocite_pairs'),
        documents=ref('int_task_documents'),
        corpus_size=var('corpus_cocited_papers'),
        queries=ref('int_task_papers_cocite_queries'),
    )
}}
