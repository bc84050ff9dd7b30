{#
  Long text, written once: Parquet in <lake folder>/text/known_year=YYYY/source=S/, one file per
  year and source, in order of doc_id; the model becomes a view over its own files, named one by
  one with absolute paths. A file carries its build's id, so a build never touches the files that
  readers of the last good lake have open, and those no view names any more can be removed.

  The model's query gives doc_id, source, known_year and more; the view adds `file`.
  An empty result writes no file and leaves a typed empty view.
#}
{% materialization text_store, adapter='duckdb' %}
    {%- set target_relation = this.incorporate(type='view') -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set rows = this.identifier ~ '__rows' -%}
    {%- set folder = lake_folder() ~ '/text' -%}
    {%- set build = (invocation_id | replace('-', ''))[:12] -%}

    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}

    {% if config.get('contract').enforced %}
        {% do get_assert_columns_equivalent(
            'select *, cast(null as varchar) as file from (' ~ sql ~ ')'
        ) %}
    {% endif %}
    {% call statement('rows') -%}
        create or replace temporary table {{ rows }} as
        select * from ({{ sql }}) as made order by known_year
    {%- endcall %}
    {%- set columns = [] -%}
    {%- for column in run_query('describe ' ~ rows).rows if column[0] not in ('known_year', 'source') -%}
        {%- do columns.append(column[0]) -%}
    {%- endfor -%}
    {%- set parts = run_query(
        'select source, known_year from ' ~ rows ~ ' group by all order by all'
    ).rows -%}

    {# COPY makes no folders, except those of a partitioned one: so lay a placeholder into each... #}
    {% if parts %}
        {% do run_query(
            'copy (select distinct known_year, source, 0 as doc_id from ' ~ rows ~ ')'
            ~ " to '" ~ folder | replace("'", "''") ~ "' (format parquet, overwrite_or_ignore,"
            ~ " partition_by (known_year, source), filename_pattern '" ~ build ~ "_{i}')"
        ) %}
    {% endif %}
    {# ...and write each file over it: a plain COPY keeps ORDER BY, a partitioned one does not. #}
    {%- set files = [] -%}
    {%- for source, year in parts -%}
        {%- set file = folder ~ '/known_year=' ~ year ~ '/source=' ~ source ~ '/' ~ build ~ '_0.parquet' -%}
        {%- do files.append("'" ~ file | replace("'", "''") ~ "'") -%}
        {%- do run_query(
            'copy (select ' ~ columns | join(', ') ~ ' from ' ~ rows
            ~ ' where known_year = ' ~ year ~ " and source = '" ~ source ~ "' order by doc_id)"
            ~ ' to ' ~ files[-1] ~ ' (format parquet, compression zstd, row_group_size 2048)'
        ) -%}
    {%- endfor %}

    {% if existing is not none and existing.type != 'view' %}
        {{ drop_relation_if_exists(existing) }}
    {% endif %}
    {% call statement('main') -%}
        create or replace view {{ target_relation }} as
        {% if files %}
        select {{ model.columns.keys() | join(', ') if model.columns else '*' }}
        from {{ read_text(files, with_file=true) }}
        {% else %}
        select *, cast(null as varchar) as file from ({{ sql }}) as made where false
        {% endif %}
    {%- endcall %}
    {% do run_query('drop table ' ~ rows) %}

    {% do persist_docs(target_relation, model) %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}
