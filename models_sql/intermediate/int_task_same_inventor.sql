-- The queries drawn for same_inventor, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'same_inventor',
        pairs=ref('int_task_same_inventor_pairs'),
        documents=ref('documents'),
        corpus_size=var('corpus_patents'),
        queries=ref('int_task_same_inventor_queries'),
    )
}}
