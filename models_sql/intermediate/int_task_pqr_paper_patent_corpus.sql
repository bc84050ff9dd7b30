-- The documents that pqr_paper_patent ranks for every query: the relevant ones of all queries.
{{ task_corpus(drawn=ref('int_task_pqr_paper_patent')) }}
