-- The queries drawn for patent_cocite, their relevant documents, and what became of each pair.
{{
    task_drawn_pairs(
        'patent_cocite',
        pairs=ref('int_task_patent_cocite_pairs'),
        documents=ref('documents'),
        corpus_size=var('corpus_patents'),
    )
}}
