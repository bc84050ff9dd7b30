-- The documents that paper_cite ranks for every query.
{{
    task_corpus(
        drawn=ref('int_task_paper_cite'),
        fillers=ref('int_task_papers'),
        corpus_size=var('corpus_papers'),
    )
}}
