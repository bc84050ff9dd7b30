-- The queries drawn for paper_cite, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'paper_cite',
        pairs=ref('int_task_paper_cite_pairs'),
        documents=ref('documents'),
        corpus_size=var('corpus_papers'),
    )
}}
