{#- What a maintenance fee code means. The first digit tells large, small and micro entities apart;
    codes of three digits are the older ones. M181 and M182 are left among the others: it is not
    sure which fee they paid. Source: USPTO, product PTMNFEE2, MaintFeeEventsDesc. -#}
{% macro fee_event_kind(code) -%}
    case
        when regexp_full_match({{ code }}, 'M[123]551|[MF]17[03]|M183|[MF]273|M283') then 'paid_4'
        when regexp_full_match({{ code }}, 'M[123]552|[MF]17[14]|M184|[MF]274|M284') then 'paid_8'
        when regexp_full_match({{ code }}, 'M[123]553|[MF]17[25]|M185|[MF]275|M285') then 'paid_12'
        when regexp_full_match({{ code }}, 'M[123]55[456]') then 'surcharge'
        when regexp_full_match({{ code }}, 'EXP\.?') then 'expired'
        when {{ code }} in ('EXPX', 'REIN') then 'reinstated'
        when {{ code }} = 'PMFG' then 'petition_granted'
        when regexp_full_match({{ code }}, 'M[123]55[789]|PMF.') then 'petition'
        when regexp_full_match({{ code }}, 'REM\.?') then 'reminder'
        when regexp_full_match({{ code }}, 'R[0-9]+') then 'refund'
        else 'other'
    end
{%- endmacro %}
