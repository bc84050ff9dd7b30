{#- Spans of an S2ORC annotation, [{first, last}] in characters from 0, last excluded: the JSON string
    that holds them may be null, broken, or give offsets as text or past the end of the text; a span without a start or an
    end is none. -#}
{% macro s2orc_spans(annotation, text) -%}
    list_filter(
        list_transform(
            coalesce(
                try_cast(try_cast({{ annotation }} as json) as struct("start" varchar, "end" varchar) []),
                []
            ),
            lambda span: {
                'first': try_cast(span."start" as bigint),
                'last': least(length({{ text }}), coalesce(try_cast(span."end" as bigint), -1))
            }
        ),
        lambda span: span.first >= 0 and span.first < span.last
    )
{%- endmacro %}
