{#
  Every task that this lake builds: one line each, read by task_sizes, task_draws and
  task_settings. A task is added with its models and one line here.
  paper_size: examples, or queries, in the paper's Table 1; none for a task of our own.
  settings: the vars of dbt_project.yml that shape the task.
#}
{% macro task_catalog() %}
    {% set split = ['test_share', 'min_year_examples'] %}
    {% set draw = ['query_share', 'min_queries', 'near_copy_overlap'] %}
    {% set window = ['forward_citation_years', 'forward_citation_last_grant'] %}
    {% set cocite = ['min_cited', 'min_cociting', 'corpus_patents'] %}
    {{ return([
        {'name': 'cpc_section', 'format': 'classify', 'paper_size': 1301889, 'settings': split},
        {'name': 'grant_year', 'format': 'regress', 'paper_size': 1301889, 'settings': split},
        {'name': 'forward_citation', 'format': 'regress', 'paper_size': 1031904, 'settings': split + window},
        {'name': 'patent_cite', 'format': 'retrieve', 'paper_size': 2810, 'settings': draw + ['min_cited', 'corpus_patents']},
        {'name': 'patent_cocite', 'format': 'retrieve', 'paper_size': 2814, 'settings': draw + cocite},
        {'name': 'paper_cite', 'format': 'retrieve', 'paper_size': none, 'settings': draw + ['min_cited', 'corpus_papers']},
    ]) }}
{% endmacro %}
