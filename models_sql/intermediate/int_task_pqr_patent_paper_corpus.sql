-- The documents that pqr_patent_paper ranks for every query: the relevant ones of all queries.
{{ task_corpus(drawn=ref('int_task_pqr_patent_paper')) }}
