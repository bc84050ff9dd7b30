-- The documents that papers_cocite ranks for every query: the relevant ones of all queries.
{{ task_corpus(drawn=ref('int_task_papers_cocite')) }}
