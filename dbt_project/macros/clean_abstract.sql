{#- An abstract without what is no part of it: character entities, tags of HTML, JATS and MathML, the
    heading "Abstract" or "Summary", a closing copyright notice, white space at the ends. Null when
    nothing is left. Everything is decided by the text itself. clean_abstracts: false leaves it as the
    publisher gave it.

    A heading goes when a colon, dash, full stop or line break follows, or a word that opens a
    sentence ("Abstract We show"), so that "Abstract interpretation is" stays. Headings of parts
    ("METHODS:") stay: they belong to the text. A notice goes when it starts with (c) or the sign
    and a year, or as a sentence with the word and a year, within 200 characters of the end. -#}
{% macro clean_abstract(column) -%}
    {%- if not var('clean_abstracts') -%}
        {{ column }}
    {%- else -%}
        {%- set steps = [
            ("&(?:lt|#60|#x3c);", "<"),
            ("&(?:gt|#62|#x3e);", ">"),
            ("&(?:quot|#34|#x22);", '"'),
            ("&(?:apos|#39|#x27);", "''"),
            ("&(?:nbsp|#160|#xa0);", " "),
            ("&(?:amp|#38|#x26);", "&"),
            ("</(?:jats:)?(?:title|p|h[1-6])\\s*>", "\n"),
            ("</?(?:jats:|mml:)?(?:i|b|u|em|strong|sub|sup|italic|bold|inf|sc|scp|tt|span)" ~ attributes_of_tag() ~ ">", ""),
            ("</?[a-z][a-z0-9]*(?::[a-z][a-z0-9-]*)?" ~ attributes_of_tag() ~ ">", " "),
            ("^\\s*(?:graphical |structured )?(?:abstract|summary)\\s*(?:[:.\\x{2013}\\x{2014}-]+\\s*|\\s*[\\n\\r]\\s*|$)", ""),
            ("^\\s*(?:abstract|summary)\\s+((?:we|this|these|the|in|an?|it|our|background|objectives?|aims?|purpose|introduction|context|motivation|here|to|for)\\b)", "\\1"),
            ("\\s*(?:copyright\\s*)?(?:\\x{a9}|\\(c\\))\\s*(?:by\\s+)?(?:the authors?,?\\s*)?[0-9]{4}[^\\n]{0,200}$", ""),
            ("(^|[.!?])\\s*copyright\\s*(?:by\\s+)?(?:the authors?,?\\s*)?[0-9]{4}[^\\n]{0,200}$", "\\1"),
            ("\\s*all rights reserved\\.?\\s*$", ""),
            ("[ \\t]{2,}", " "),
            ("^\\s+|\\s+$", ""),
        ] -%}
        {%- set ns = namespace(text=column) -%}
        {%- for pattern, new in steps -%}
            {%- set ns.text = "regexp_replace(" ~ ns.text ~ ", '" ~ pattern ~ "', '" ~ new ~ "', 'gi')" -%}
        {%- endfor -%}
        nullif({{ ns.text }}, '')
    {%- endif -%}
{%- endmacro %}

{#- Attributes as they stand in a tag, name and quoted value, so that "a < b and c > d" is no tag. -#}
{% macro attributes_of_tag() -%}
(?:\s+[a-z:_-]+\s*=\s*(?:"[^"]*"|''[^'']*''))*\s*/?
{%- endmacro %}
