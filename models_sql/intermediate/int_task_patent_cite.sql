-- The queries drawn for patent_cite, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'patent_cite',
        pairs=ref('int_task_patent_cite_pairs'),
        documents=ref('documents'),
        corpus_size=var('corpus_patents'),
    )
}}
