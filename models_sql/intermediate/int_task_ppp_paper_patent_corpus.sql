-- The documents that ppp_paper_patent ranks for every query.
{{
    task_corpus(
        drawn=ref('int_task_ppp_paper_patent'),
        fillers=ref('int_task_common_patent_sample'),
        corpus_size=var('corpus_patents'),
    )
}}
