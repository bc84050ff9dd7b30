{#- The place of a patent office in the order that picks a family's representative.
    Source: Pat-SPECTER paper, section 5 (EP > WO > US > JP > CN > KR > DE > FR > GB > IT > ES > SE
    > NL > others). -#}
{% macro office_rank(office) -%}
    coalesce(list_position(
        ['EP', 'WO', 'US', 'JP', 'CN', 'KR', 'DE', 'FR', 'GB', 'IT', 'ES', 'SE', 'NL'], {{ office }}
    ), 14)
{%- endmacro %}
