-- The queries drawn for same_initial_assignee, their relevant documents, and what became of each
-- pair.
{{
    task_drawn_pairs(
        'same_initial_assignee',
        pairs=ref('int_task_same_initial_assignee_pairs'),
        documents=ref('documents'),
        corpus_size=var('corpus_patents'),
        queries=ref('int_task_same_initial_assignee_queries'),
    )
}}
