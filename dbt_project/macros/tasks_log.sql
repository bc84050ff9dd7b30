{# Says what share of the common patent sample has no CPC section; no SQL of its own. #}
{% macro task_log_share_without_cpc() %}
    {% if execute %}
        {% set counted = run_query(
            "select count(*), count(*) filter (where cpc_section = '?') from " ~ this
        ) %}
        {% set n_all, n_without = counted.rows[0][0], counted.rows[0][1] %}
        {% do log(
            'common patent sample: ' ~ n_without ~ ' of ' ~ n_all
            ~ ' patents have no CPC section (cell ?)', info=true
        ) %}
    {% endif %}
{% endmacro %}
