-- The documents that patent_paper_citation ranks for every query.
{{
    task_corpus(
        drawn=ref('int_task_patent_paper_citation'),
        fillers=ref('int_task_linked_papers'),
        corpus_size=var('corpus_papers'),
    )
}}
