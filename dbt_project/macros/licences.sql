{#- Licences by how little they ask, from 0 (nothing) up: (licence, rank, what it asks). The order is
    ours: name the source, share alike, change nothing, no trade, terms of the publisher's own. -#}
{% macro licence_order() %}
    {{ return([
        ("public-domain", 0, "nothing"),
        ("cc0", 0, "nothing"),
        ("pddl", 0, "nothing"),
        ("cc-by", 1, "name the source"),
        ("odc-by", 1, "name the source"),
        ("mit", 1, "name the source"),
        ("apache-2.0", 1, "name the source"),
        ("cc-by-sa", 2, "share what is made of it under the same licence"),
        ("odbl", 2, "share what is made of it under the same licence"),
        ("gpl-v3", 2, "share what is made of it under the same licence"),
        ("cc-by-nd", 3, "share it unchanged"),
        ("cc-by-nc", 4, "no commercial use"),
        ("cc-by-nc-sa", 5, "no commercial use, and the same licence"),
        ("cc-by-nc-nd", 6, "no commercial use, and unchanged"),
        ("publisher-specific-oa", 7, "terms of the publisher's own"),
        ("other-oa", 7, "free to read; terms of its own"),
        ("implied-oa", 7, "free to read; no terms stated"),
        ("unspecified-oa", 7, "free to read; no terms stated"),
    ]) }}
{% endmacro %}

{#- A licence in the spelling of audit.licences, from CCBYNC, cc-by-nc, CC BY-NC 4.0 or the address of
    its deed. What is not recognised keeps its own words in lower case and has no rank; nothing is
    guessed. Versions and ports are dropped. -#}
{% macro licence_code(column) -%}
    {%- set letters -%}
        regexp_replace(lower({{ column }}), '^https?://creativecommons.org/(licenses|publicdomain)/|[^a-z0-9]', '', 'g')
    {%- endset -%}
    case
        when {{ letters }} = '' then null
        when regexp_full_match({{ letters }}, '(cc)?(by)(nc)?(sa|nd)?[0-9]*([a-z]{2}|international|unported|generic|igo|deed[a-z]*)?')
            then 'cc-by'
                || case when regexp_matches({{ letters }}, '^(cc)?bync') then '-nc' else '' end
                || case
                    when regexp_matches({{ letters }}, '^(cc)?by(nc)?sa') then '-sa'
                    when regexp_matches({{ letters }}, '^(cc)?by(nc)?nd') then '-nd'
                    else ''
                end
        when regexp_full_match({{ letters }}, '(cc0|cczero|zero)[0-9]*(universal)?') then 'cc0'
        when regexp_full_match({{ letters }}, '(publicdomain|pd|mark)(mark)?[0-9]*') then 'public-domain'
        when regexp_full_match({{ letters }}, 'odcby[0-9]*') then 'odc-by'
        else regexp_replace(lower(trim({{ column }})), '[\s_]+', '-', 'g')
    end
{%- endmacro %}

{#- Rank of a licence in licence_order(), null for one that is unknown or not listed. -#}
{% macro licence_rank(expression) -%}
    case {{ expression }}
        {%- for licence, rank, asks in licence_order() %} when '{{ licence }}' then {{ rank }}{% endfor %}
    end
{%- endmacro %}

{#- True where both licences of a row ask no more than the licence asked for; true for every row where
    none is asked for. A row of unknown licence is never in a restricted slice. -#}
{% macro within_licence(asked, publisher_licence, licence) -%}
    {%- set known = licence_order() | map(attribute=0) | join(", ") -%}
    case
        when {{ asked }} is null then true
        when {{ licence_rank(asked) }} is null
            then error('licence ' || {{ asked }} || ' is unknown: use one of {{ known }}')
        else coalesce(
            greatest({{ licence_rank(publisher_licence) }}, {{ licence_rank(licence) }})
            <= {{ licence_rank(asked) }}
            and {{ licence_rank(publisher_licence) }} is not null
            and {{ licence_rank(licence) }} is not null,
            false
        )
    end
{%- endmacro %}
