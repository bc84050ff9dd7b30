-- How surely a text is English, kept by the hash of the text, so that each text is scored once:
-- a build scores only the texts that no build before it has met. Never call language_share from
-- a view: other readers of the lake do not have the function.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='fail',
    post_hook="{{ forget_language_scores() }}",
) }}
with texts as (
    {{ language_texts() }}
),

new_texts as (
    select md5(text) as text_md5, text
    from texts
    where
        {{ has_text('text') }}
        {% if is_incremental() %}
            and md5(text) not in (select text_md5 from {{ this }})
        {% endif %}
)

select text_md5, any_value(english) as english
from (
    select text_md5, cast(language_share(text) as double) as english
    from new_texts
) as scored
group by text_md5
