-- The documents that assignee_patent_match ranks for every query.
{{
    task_corpus(
        drawn=ref('int_task_assignee_patent_match'),
        fillers=ref('int_task_common_patent_sample'),
        corpus_size=var('corpus_patents'),
        parts=ref('int_task_assignee_patent_match_shown'),
    )
}}
