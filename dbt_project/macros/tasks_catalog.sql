{#
  Every task that this lake builds: one line each, read by task_sizes, task_draws and
  task_settings. A task is added with its models and one line here.
  paper_size: examples, or queries, in the paper's Table 1; none for a task of our own.
  settings: the vars of dbt_project.yml that shape the task.
  draws_first: the queries are drawn in a model of their own, before their pairs are made.
  observed: the source of labels whose last whole year closes the task's window.
  parts: a query is the mean of several documents, listed in queries_<name>.
#}
{% macro task_catalog() %}
    {% set split = ['test_share', 'min_year_examples'] %}
    {% set draw = ['query_share', 'min_queries', 'near_copy_overlap'] %}
    {% set window = ['forward_citation_years', 'forward_citation_last_grant'] %}
    {% set initial = ['min_assignee_patents', 'max_assignee_patents', 'initial_assignee_queries', 'corpus_patents'] %}
    {% set linked = ['min_confscore'] %}
    {% set match = ['match_assignees', 'match_min_patents', 'match_held_out_share', 'corpus_patents'] %}
    {% set cocite = ['min_cited', 'min_cociting', 'corpus_patents'] %}
    {{ return([
        {'name': 'cpc_section', 'format': 'classify', 'paper_size': 1301889, 'settings': split},
        {'name': 'cpc_subclass', 'format': 'classify', 'paper_size': 854938, 'settings': split + ['frequent_subclasses']},
        {'name': 'assignee_type', 'format': 'classify', 'paper_size': 1175654, 'settings': split},
        {'name': 'academic_public', 'format': 'classify', 'paper_size': 228625, 'settings': split},
        {'name': 'us_foreign', 'format': 'classify', 'paper_size': 2221228, 'settings': split},
        {'name': 'vc_backed', 'format': 'classify', 'paper_size': 1005898, 'settings': split + ['min_vc_score']},
        {'name': 'grant_abandon', 'format': 'classify', 'paper_size': 1982954, 'settings': split + ['grant_abandon_years', 'grant_abandon_last_filing'], 'observed': 'crosswalk'},
        {'name': 'renewal', 'format': 'classify', 'paper_size': 868775, 'settings': split + ['renewal_years', 'renewal_last_grant'], 'observed': 'fees'},
        {'name': 'ppp_patent', 'format': 'classify', 'paper_size': 228936, 'settings': split + ['min_pair_score'], 'observed': 'patent_paper_pairs'},
        {'name': 'ppp_paper', 'format': 'classify', 'paper_size': 291740, 'settings': split + linked + ['min_pair_score'], 'observed': 'patent_paper_pairs'},
        {'name': 'pqr_patent', 'format': 'classify', 'paper_size': 200046, 'settings': split + ['min_researcher_confidence', 'researcher_examples'], 'observed': 'researcher_patents'},
        {'name': 'pqr_paper', 'format': 'classify', 'paper_size': 200228, 'settings': split + linked + ['min_researcher_confidence', 'researcher_examples'], 'observed': 'researcher_papers'},
        {'name': 'grant_year', 'format': 'regress', 'paper_size': 1301889, 'settings': split},
        {'name': 'forward_citation', 'format': 'regress', 'paper_size': 1031904, 'settings': split + window, 'observed': 'citations'},
        {'name': 'kogan_value', 'format': 'regress', 'paper_size': 2061318, 'settings': split},
        {'name': 'science_uptake', 'format': 'regress', 'paper_size': 1000104, 'settings': split + linked + ['uptake_papers']},
        {'name': 'same_inventor', 'format': 'retrieve', 'paper_size': 5304, 'settings': draw + ['min_inventors', 'corpus_patents'], 'draws_first': true},
        {'name': 'patent_cite', 'format': 'retrieve', 'paper_size': 2810, 'settings': draw + ['min_cited', 'corpus_patents']},
        {'name': 'patent_cocite', 'format': 'retrieve', 'paper_size': 2814, 'settings': draw + cocite},
        {'name': 'same_initial_assignee', 'format': 'retrieve', 'paper_size': 1989, 'settings': draw + initial, 'draws_first': true},
        {'name': 'assignee_patent_match', 'format': 'retrieve', 'paper_size': 500, 'settings': match, 'draws_first': true, 'parts': true},
        {'name': 'patent_paper_citation', 'format': 'retrieve', 'paper_size': 10926, 'settings': draw + linked + ['min_cited', 'corpus_papers'], 'draws_first': true},
        {'name': 'paper_patent_retrieval', 'format': 'retrieve', 'paper_size': 12342, 'settings': draw + linked + ['min_citing', 'corpus_patents'], 'draws_first': true},
        {'name': 'papers_cocite', 'format': 'retrieve', 'paper_size': 13659, 'settings': draw + linked + ['min_cociting', 'corpus_cocited_papers'], 'draws_first': true},
        {'name': 'ppp_paper_patent', 'format': 'retrieve', 'paper_size': 1117, 'settings': draw + linked + ['min_pair_score', 'corpus_patents'], 'draws_first': true},
        {'name': 'pqr_patent_paper', 'format': 'retrieve', 'paper_size': 13282, 'settings': draw + linked + ['min_researcher_confidence', 'corpus_papers'], 'draws_first': true},
        {'name': 'pqr_paper_patent', 'format': 'retrieve', 'paper_size': 64173, 'settings': draw + linked + ['min_researcher_confidence', 'corpus_patents'], 'draws_first': true},
        {'name': 'paper_cite', 'format': 'retrieve', 'paper_size': none, 'settings': draw + ['min_cited', 'corpus_papers']},
    ]) }}
{% endmacro %}

{# The settings of the sample and of every task, as rows (task, setting, value) of a list of values. #}
{% macro task_setting_rows(tasks) %}
    {% set rows = [] %}
    {% for name in [
        'sample_first_year', 'sample_last_year', 'patents_per_cell', 'sample_without_cpc'
    ] %}
        {% do rows.append("('common_patent_sample', '" ~ name ~ "', '" ~ var(name) ~ "')") %}
    {% endfor %}
    {% for task in tasks %}
        {% for name in ['seed'] + task.settings %}
            {% do rows.append("('" ~ task.name ~ "', '" ~ name ~ "', '" ~ var(name) ~ "')") %}
        {% endfor %}
    {% endfor %}
    {{ return(rows | join(',\n    ')) }}
{% endmacro %}

{# The published size of the sample and of every task, as rows (task, format, paper_size). #}
{% macro task_published_rows(tasks) %}
    {% set rows = ["('common_patent_sample', 'sample', 1301889)"] %}
    {% for task in tasks %}
        {% do rows.append(
            "('" ~ task.name ~ "', '" ~ task.format ~ "', " ~ (task.paper_size or 'null') ~ ")"
        ) %}
    {% endfor %}
    {{ return(rows | join(',\n    ')) }}
{% endmacro %}
