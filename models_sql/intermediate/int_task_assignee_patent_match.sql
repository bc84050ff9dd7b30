-- The assignees drawn for assignee_patent_match, their relevant documents, and what became of each
-- pair.
{{
    task_drawn_pairs(
        'assignee_patent_match',
        pairs=ref('int_task_assignee_patent_match_pairs'),
        documents=none,
        corpus_size=var('corpus_patents'),
        queries=ref('int_task_assignee_patent_match_queries'),
    )
}}
