{# Every text that the English filter may be asked about. #}
{% macro language_texts() %}
    select body_text as text from {{ ref('stg_s2ag__s2orc_v2') }}
    union all
    select body_text as text from {{ ref('stg_s2ag__s2orc') }}
    union all
    select abstract as text from {{ ref('stg_s2ag__abstracts') }}
    union all
    select text from {{ ref('stg_fineweb__pages') }}
{%- endmacro %}


{#
  Post-hook of int_language_scores: drop the scores of texts that no raw file holds any more, so
  that the table is that of a build afresh. It reads every text once more, so `lake build` asks for
  it only when a raw file that was read is gone or has changed.
#}
{% macro forget_language_scores() %}
    {%- if is_incremental() and env_var('SCITLAKE_FORGET', '') -%}
        delete from {{ this }}
        where text_md5 not in (
            select md5(text) from ({{ language_texts() }}) as texts where text is not null
        )
    {%- endif -%}
{% endmacro %}
