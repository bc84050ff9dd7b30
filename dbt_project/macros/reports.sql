{#
  FROM clause over the text files whose words are not counted yet: file, text. All of them in a
  first build; none is a typed empty relation.
#}
{% macro read_uncounted_texts(text_files) -%}
    {%- if execute and env_var('SCITLAKE_LINEAGE', '') -%}
        (select source as file, text from {{ read_text_store(text_files) }})
    {%- else -%}
        {%- set files = listed_files(text_files) if execute else [] -%}
        {%- if files and is_incremental() -%}
            {%- set counted = [] -%}
            {%- for row in run_query('select path from ' ~ this).rows -%}
                {%- do counted.append(sql_string(row[0])) -%}
            {%- endfor -%}
            {%- set files = files | reject('in', counted) | list -%}
        {%- endif -%}
        {%- if files -%}
            {{ read_text(files, with_file=true) }}
        {%- else -%}
            (select cast(null as varchar) as file, cast(null as varchar) as text where false)
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}


{# The cutoffs that a costly report is made for: the paper's, as far as this lake reaches. #}
{% macro report_cutoffs() %}
    {%- set first, last = lake_span_years(ref('lake_span')) | map('int') -%}
    {%- set wanted = var('first_report_cutoff') | int -%}
    {{ return(range([first, [wanted, last] | min] | max, last + 1) | list) }}
{% endmacro %}
