-- The documents that paper_patent_retrieval ranks for every query: the relevant ones of all queries.
{{ task_corpus(drawn=ref('int_task_paper_patent_retrieval')) }}
