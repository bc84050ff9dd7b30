{# The words of a title that survive another publisher's spelling: letters and digits, lower case. #}
{% macro title_words(title) -%}
    list_distinct(regexp_extract_all(lower(strip_accents(regexp_replace({{ title }}, '<[^>]*>', '', 'g'))), '[a-z0-9]+'))
{%- endmacro %}


{#
  What audit.snapshot_checks measures: for each row of the seed plausibility_bounds an aggregate
  over a relation. `measure` in the seed and `name` here are the same words.
#}
{% macro snapshot_measures() %}
    {%- set citations %}(
        select citing.year - cited.year as years
        from {{ ref('stg_s2ag__citations') }} as links
        inner join papers as citing on links.citing_corpus_id = citing.corpus_id
        inner join papers as cited on links.cited_corpus_id = cited.corpus_id
        where citing.year is not null and cited.year is not null
    ) as dated{% endset -%}
    {%- set applications %}(
        select applications.filing_date, patents.grant_date
        from {{ ref('stg_patentsview__applications') }} as applications
        inner join patents on applications.patent_id = patents.patent_id
        where applications.filing_date is not null and patents.grant_date is not null
    ) as dated{% endset -%}
    {%- set patent_citations %}(
        select try_cast(patent_id as bigint) as citing, try_cast(cited_patent_id as bigint) as cited
        from {{ ref('stg_patentsview__us_patent_citations') }}
        where try_cast(patent_id as bigint) is not null and try_cast(cited_patent_id as bigint) is not null
    ) as numbered{% endset -%}
    {%- set links %}(
        select patents.grant_date, works.publication_year
        from {{ ref('stg_ros__patent_to_paper') }} as links
        inner join patents on links.patent_id = patents.patent_id
        inner join {{ ref('stg_openalex__works') }} as works on links.work_id = works.work_id
        where works.publication_year is not null and patents.grant_date is not null
    ) as dated{% endset -%}
    {%- set crawls %}(
        select page_id, count(distinct dump) as n_dumps from {{ ref('stg_fineweb__pages') }} group by page_id
    ) as crawls{% endset -%}
    {%- set publications = "(select * from " ~ ref('stg_patentsview__pg_published_applications')
        ~ " where published_date is not null) as publications" -%}
    {%- set works = ref('stg_openalex__works') -%}
    {%- set measures = [
        ('s2ag', 'papers', 'share without a year', "avg((year is null)::int)", "papers"),
        ('s2ag', 'papers', 'share without a title', "avg((trim(coalesce(title, '')) = '')::int)", "papers"),
        ('s2ag', 'papers', 'share with a DOI', "avg((doi is not null)::int)", "papers"),
        ('s2ag', 'papers', 'median year', "median(year)", "(select year from papers where year is not null) as dated"),
        ('s2ag', 'papers', 'share where year and day of publication agree',
            "avg((abs(year - year(publication_date)) <= 1)::int)",
            "(select year, publication_date from papers where year is not null and publication_date is not null) as dated"),
        ('s2ag', 'abstracts', 'median characters', "median(length(abstract))",
            "(select abstract from " ~ ref('stg_s2ag__abstracts') ~ " where abstract is not null) as written"),
        ('s2ag', 'abstracts', 'share that are abstracts of a paper here',
            "avg((corpus_id in (select corpus_id from papers))::int)", ref('stg_s2ag__abstracts')),
        ('s2ag', 'citations', 'share without a cited paper', "avg((cited_corpus_id is null)::int)", ref('stg_s2ag__citations')),
        ('s2ag', 'citations', 'share that point forward by over a year', "avg((years < -1)::int)", citations),
        ('s2ag', 's2orc_v2', 'median characters', "median(length(body_text))",
            "(select body_text from " ~ ref('stg_s2ag__s2orc_v2') ~ " where body_text is not null) as written"),
        ('patentsview', 'g_patent', 'share without a day of grant', "avg((grant_date is null)::int)", "patents"),
        ('patentsview', 'g_patent', 'share of utility patents', "avg((patent_type = 'utility')::int)", "patents"),
        ('patentsview', 'g_patent', 'rank correlation of number and day', "corr(number_rank, day_rank)", "ranked_patents"),
        ('patentsview', 'g_patent', 'share granted on a Tuesday', "avg((dayofweek(grant_date) = 2)::int)",
            "(select grant_date from patents where grant_date is not null) as dated"),
        ('patentsview', 'g_patent_abstract', 'share that are abstracts of a patent here',
            "avg((patent_id in (select patent_id from patents))::int)", ref('stg_patentsview__patent_abstracts')),
        ('patentsview', 'g_application', 'share filed before the grant', "avg((filing_date < grant_date)::int)", applications),
        ('patentsview', 'g_application', 'median years from filing to grant',
            "median(date_diff('day', filing_date, grant_date) / 365.25)", applications),
        ('patentsview', 'g_us_patent_citation', 'share that cite a lower number', "avg((cited < citing)::int)", patent_citations),
        ('patentsview', 'g_cpc_current', 'share in sections A to H and Y',
            "avg(coalesce(cpc_section in ('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'Y'), false)::int)",
            ref('stg_patentsview__cpc_current')),
        ('patentsview', 'pg_published_application', 'share whose number starts with the year of publication',
            "avg((pgpub_id // 10000000 = year(published_date))::int)", publications),
        ('patentsview', 'pg_published_application', 'share published after filing',
            "avg((coalesce(filing_date < published_date, true))::int)", publications),
        ('openalex', 'works', 'share without a year', "avg((publication_year is null)::int)", works),
        ('openalex', 'works', 'share without a title', "avg((trim(coalesce(title, '')) = '')::int)", works),
        ('openalex', 'works', 'share of DOIs whose title agrees with Semantic Scholar',
            "avg((2 * len(list_intersect(words, other_words)) >= least(len(words), len(other_words)))::int)", "same_dois"),
        ('openalex', 'works', 'share of DOIs whose year agrees with Semantic Scholar within one',
            "avg(coalesce(years_agree, false)::int)", "same_dois"),
        ('ros', 'pcs_oa', 'share with a confidence of 1 to 10', "avg(coalesce(confscore between 1 and 10, false)::int)",
            ref('stg_ros__patent_to_paper')),
        ('ros', 'pcs_oa', 'share whose paper is older than the grant', "avg((publication_year <= year(grant_date))::int)", links),
        ('fineweb', 'pages', 'share with a language score from 0 to 1',
            "avg(coalesce(language_score between 0 and 1, true)::int)", ref('stg_fineweb__pages')),
        ('fineweb', 'pages', 'share whose id is of one crawl', "avg((n_dumps = 1)::int)", crawls),
        ('fineweb', 'pages', 'median characters', "median(length(text))",
            "(select text from " ~ ref('stg_fineweb__pages') ~ " where text is not null) as written"),
    ] -%}
    {%- set found = [] -%}
    {%- for source, table, name, value, relation in measures -%}
        {%- do found.append({'source': source, 'table': table, 'name': name, 'value': value, 'relation': relation}) -%}
    {%- endfor -%}
    {{ return(found) }}
{% endmacro %}
