-- The documents that patent_cocite ranks for every query.
{{
    task_corpus(
        drawn=ref('int_task_patent_cocite'),
        fillers=ref('int_task_common_patent_sample'),
        corpus_size=var('corpus_patents'),
    )
}}
