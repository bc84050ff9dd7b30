{#- Every id is made and cleaned here and nowhere else. Ranges of doc_id are integer literals: a
    power such as 10**17 is a DOUBLE in DuckDB and drops low bits. -#}

{#- A patent number as PatentsView writes it, from any office form: US-10000036, us-0re35000-e1,
    0000004593999, D0734743. Upper case, without country, kind, or zeros in front of the digits.
    Anything else (foreign numbers) stays as it is, in upper case. -#}
{% macro normalize_patent_id(column) -%}
    regexp_replace(
        regexp_replace(
            upper(trim(cast({{ column }} as varchar))), '^(?:US[- ]?)?([0-9A-Z]+?)(?:[- ][A-Z][0-9]?)?$', '\1'
        ),
        '^0*([A-Z]{0,2})0*([0-9]+)$', '\1\2'
    )
{%- endmacro %}

{#- doc_id of a US patent from its normalised number; null for other numbers. -#}
{% macro patent_doc_id(column) -%}
    case regexp_extract({{ column }}, '^(D|PP|RE|H|T)?[0-9]{1,10}$', 1)
        when '' then 1000000000000
        when 'D' then 1010000000000
        when 'PP' then 1020000000000
        when 'RE' then 1030000000000
        when 'H' then 1040000000000
        when 'T' then 1050000000000
    end + try_cast(regexp_extract({{ column }}, '^(?:D|PP|RE|H|T)?([0-9]{1,10})$', 1) as bigint)
{%- endmacro %}

{#- doc_id of a pre-grant publication from its number, 20100273145. -#}
{% macro pgpub_doc_id(column) -%}
    (100000000000000 + cast({{ column }} as bigint))
{%- endmacro %}

{#- doc_id of an OpenAlex work from the number in its id. -#}
{% macro openalex_doc_id(column) -%}
    (2000000000000 + cast({{ column }} as bigint))
{%- endmacro %}

{#- doc_id of a patent family from its DOCDB number. -#}
{% macro family_doc_id(column) -%}
    (3000000000000 + cast({{ column }} as bigint))
{%- endmacro %}

{#- doc_id of a web page: the first 15 hex digits of the md5 of its id. -#}
{% macro web_doc_id(column) -%}
    (100000000000000000 + cast('0x' || left(md5({{ column }}), 15) as bigint))
{%- endmacro %}

{#- A DOI without resolver, in lower case; null when nothing is left. -#}
{% macro normalize_doi(column) -%}
    nullif(
        regexp_replace(lower(trim({{ column }})), '^(?:https?://)?(?:(?:dx\.|www\.)?doi\.org/|(?:info:)?doi[:/])\s*', ''),
        ''
    )
{%- endmacro %}

{#- The number of an OpenAlex work from its URL, W2100837269, or the bare number. -#}
{% macro openalex_work_id(column) -%}
    try_cast(regexp_extract(upper(trim(cast({{ column }} as varchar))), '(?:^|/)W?([0-9]+)$', 1) as bigint)
{%- endmacro %}

{#- The id of an OpenAlex author from its URL or the bare id: A5067184382. -#}
{% macro openalex_author_id(column) -%}
    'A' || regexp_extract(upper(trim({{ column }})), '(?:^|/)A([0-9]+)$', 1)
{%- endmacro %}

{#- An application number as eight characters: 08479995; older forms 02/002761 lose the slash, and
    readers that took it for an integer lost zeros. -#}
{% macro normalize_application_id(column) -%}
    case
        when length(regexp_replace({{ column }}, '[^0-9A-Za-z]', '', 'g')) between 1 and 7
        then lpad(regexp_replace({{ column }}, '[^0-9A-Za-z]', '', 'g'), 8, '0')
        else nullif(regexp_replace(upper({{ column }}), '[^0-9A-Z]', '', 'g'), '')
    end
{%- endmacro %}
