-- The documents that same_inventor ranks for every query.
{{
    task_corpus(
        drawn=ref('int_task_same_inventor'),
        fillers=ref('int_task_common_patent_sample'),
        corpus_size=var('corpus_patents'),
    )
}}
