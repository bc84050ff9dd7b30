{#
  on-run-end: the training examples of every run below RUNS_ROOT as SQL. The view lists the files
  when it is queried, so that runs made after the build are in it. Each row carries the cutoff of
  its run and, in known_year, the latest year of any of its documents. An empty file of the same
  columns stands in while there is no run.
#}
{% macro create_run_views() %}
    {% if not execute or flags.WHICH not in ('build', 'run') %}{{ return('') }}{% endif %}
    {% set none_yet = sql_string(lake_folder() ~ '/no_examples.parquet') %}
    {% set runs = run_query("select getvariable('runs')").rows[0][0] %}
    {% set files = sql_string(runs ~ '/*-neighbours/examples.parquet') %}
    {% do run_query(
        'copy (select cast(null as bigint) as anchor_id, cast(null as varchar) as anchor_type,'
        ~ ' cast(null as varchar) as pool, cast(null as bigint) as positive_id,'
        ~ ' cast(null as varchar) as positive_type, cast(null as integer) as rank,'
        ~ ' cast(null as bigint[]) as negative_ids, cast(null as integer) as n_hard,'
        ~ ' cast(null as integer) as known_year where false) to ' ~ none_yet ~ ' (format parquet)'
    ) %}
    {% do run_query('create schema if not exists runs') %}
    {% do run_query(
        "create or replace view runs.examples as select"
        ~ " parse_filename(parse_dirpath(file)) as run,"
        ~ " try_cast(regexp_extract(run, '-([0-9]{4})(-s[0-9]+)?-neighbours$', 1) as integer)"
        ~ " as cutoff, * exclude (file) from read_parquet([" ~ none_yet ~ ", " ~ files ~ "],"
        ~ " allow_empty = true, union_by_name = true, filename = 'file')"
    ) %}
    {% do run_query(
        "create or replace view runs.cross_type_shares as select run, cutoff, pool,"
        ~ " count(*) as examples, count(distinct anchor_id) as anchors,"
        ~ " avg(cast(anchor_type <> positive_type as integer)) as cross_type_share"
        ~ " from runs.examples group by grouping sets ((run, cutoff), (run, cutoff, pool))"
    ) %}
    {% do run_query(
        "comment on view runs.examples is 'Training examples of every run, dated: anchor, positive"
        ~ " and negatives by document id.'"
    ) %}
    {% do run_query(
        "comment on view runs.cross_type_shares is 'Share of examples whose positive is of the"
        ~ " other type than its anchor, by run and pool; over all pools where pool is null.'"
    ) %}
    {% do adapter.commit() %}
{% endmacro %}
