{#- Every staging model, with the year that tells how far its raw table reaches (none where it has
    no date of its own). Naming them by ref() makes the audit wait for their post-hooks. -#}
{% macro staged_tables() %}
    {%- set years = {
        "stg_s2ag__papers": "year",
        "stg_s2ag__abstracts": none,
        "stg_s2ag__citations": none,
        "stg_s2ag__paper_ids": none,
        "stg_s2ag__s2orc": none,
        "stg_s2ag__s2orc_v2": none,
        "stg_patentsview__patents": "grant_year",
        "stg_patentsview__patent_abstracts": none,
        "stg_patentsview__applications": "filing_year",
        "stg_patentsview__us_patent_citations": none,
        "stg_patentsview__cpc_current": none,
        "stg_patentsview__cpc_at_issue": none,
        "stg_patentsview__other_references": none,
        "stg_patentsview__assignees": none,
        "stg_patentsview__inventors": none,
        "stg_patentsview__g_brf_sum_text": none,
        "stg_patentsview__g_claims": none,
        "stg_patentsview__g_detail_desc_text": none,
        "stg_patentsview__g_draw_desc_text": none,
        "stg_patentsview__pg_published_applications": "filing_year",
        "stg_patentsview__pg_abstracts": none,
        "stg_patentsview__pg_granted_pgpubs_crosswalk": none,
        "stg_patentsview__pg_cpc_current": none,
        "stg_patentsview__pg_assignees": none,
        "stg_patentsview__pg_inventors": none,
        "stg_patentsview__pg_brf_sum_text": none,
        "stg_patentsview__pg_claims": none,
        "stg_patentsview__pg_detail_desc_text": none,
        "stg_patentsview__pg_draw_desc_text": none,
        "stg_openalex__works": "publication_year",
        "stg_openalex__merged_ids": none,
        "stg_ros__patent_to_paper": none,
        "stg_uspto__withdrawn": none,
        "stg_uspto__maintenance_fee_events": "event_year",
        "stg_ppp__patent_paper_pairs": none,
        "stg_kpss__patent_values": "issue_year",
        "stg_ocpb__assignee_at_filing": none,
        "stg_ocpb__patent_ocpb": none,
        "stg_pqr__researchers": none,
        "stg_pqr__inventor_patents": none,
        "stg_pqr__author_works": none,
        "stg_families__european_families": "publication_year",
        "stg_fineweb__pages": "crawl_year",
    } -%}
    {%- set staged = [] -%}
    {%- for name, year in years.items() -%}
        {%- set relation = ref(name) -%}
        {%- if execute -%}
            {%- set node = graph.nodes["model." ~ project_name ~ "." ~ name] -%}
            {%- do staged.append({"relation": relation, "year": year, "raw": raw_table_of(node)}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(staged) }}
{% endmacro %}
