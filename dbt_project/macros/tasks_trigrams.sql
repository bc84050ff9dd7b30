{#
  The distinct word trigrams of a text, as a list; words are runs of a-z and 0-9 in lower case.
  Empty for a text of fewer than three words. Our choice, as is the whole rule of near-copies.
#}
{% macro task_word_trigrams(text) -%}
    list_transform(
        [regexp_extract_all(lower({{ text }}), '[a-z0-9]+')],
        lambda words: list_distinct(
            list_transform(
                range(1, len(words) - 1),
                lambda i: words[i] || ' ' || words[i + 1] || ' ' || words[i + 2]
            )
        )
    )[1]
{%- endmacro %}
