-- Links to documents that this lake does not hold: normal in a partial lake. They stay in
-- staging; here they are counted. `link` says which raw link and which end is missing.
with papers as (
    select doc_id as id
    from {{ ref('int_papers') }}

    union all

    -- A merged id names the paper that it is now.
    select merged.corpus_id as id
    from {{ ref('int_merged_ids') }} as merged
    inner join {{ ref('int_papers') }} as papers on merged.doc_id = papers.doc_id
),

patents as (
    select patent_id as id, doc_id
    from {{ ref('int_patents') }}
),

publications as (
    select pgpub_id as id
    from {{ ref('stg_patentsview__pg_published_applications') }}
),

works as (
    select work_id as id
    from {{ ref('stg_openalex__works') }}
),

inventors as (
    select inventor_id as id
    from {{ ref('stg_pqr__researchers') }}
),

authors as (
    select author_id as id
    from {{ ref('stg_pqr__researchers') }}
)

{% set lookups = [
    ('s2ag abstract: its paper', 'stg_s2ag__abstracts', 'corpus_id', 'papers'),
    ('s2ag s2orc body: its paper', 'stg_s2ag__s2orc', 'corpus_id', 'papers'),
    ('s2ag s2orc_v2 body: its paper', 'stg_s2ag__s2orc_v2', 'corpus_id', 'papers'),
    ('s2ag citation: citing paper', 'stg_s2ag__citations', 'citing_corpus_id', 'papers'),
    ('s2ag citation: cited paper', 'stg_s2ag__citations', 'cited_corpus_id', 'papers'),
    ('patentsview citation: citing patent', 'stg_patentsview__us_patent_citations', 'patent_id', 'patents'),
    ('patentsview citation: cited patent', 'stg_patentsview__us_patent_citations', 'cited_patent_id', 'patents'),
    ('patentsview abstract: its patent', 'stg_patentsview__patent_abstracts', 'patent_id', 'patents'),
    ('patentsview description: its patent', 'stg_patentsview__g_detail_desc_text', 'patent_id', 'patents'),
    ('patentsview pgpub description: its publication', 'stg_patentsview__pg_detail_desc_text', 'pgpub_id', 'publications'),
    ('uspto withdrawn: its patent', 'stg_uspto__withdrawn', 'patent_id', 'patents'),
    ('uspto fee event: its patent', 'stg_uspto__maintenance_fee_events', 'patent_id', 'patents'),
    ('patent-paper pair: its patent', 'stg_ppp__patent_paper_pairs', 'patent_id', 'patents'),
    ('patent-paper pair: its work', 'stg_ppp__patent_paper_pairs', 'work_id', 'works'),
    ('patent value: its patent', 'stg_kpss__patent_values', 'patent_id', 'patents'),
    ('ocpb assignee at filing: its patent', 'stg_ocpb__assignee_at_filing', 'patent_id', 'patents'),
    ('ocpb assignee: its patent', 'stg_ocpb__patent_ocpb', 'patent_id', 'patents'),
    ('pqr link to a patent: its researcher', 'stg_pqr__inventor_patents', 'inventor_id', 'inventors'),
    ('pqr link to a patent: its patent', 'stg_pqr__inventor_patents', 'patent_id', 'patents'),
    ('pqr link to a work: its researcher', 'stg_pqr__author_works', 'author_id', 'authors'),
    ('pqr link to a work: its work', 'stg_pqr__author_works', 'work_id', 'works'),
    ('family citation: its work', 'stg_families__european_families', 'work_id', 'works'),
] %}
{% for link, relation, key, known in lookups %}
    select '{{ link }}' as link, count(*) as n_rows
    from {{ ref(relation) }}
    where {{ key }} is not null and {{ key }} not in (select id from {{ known }})

    union all
{% endfor %}

select 's2ag citation: cited paper not named' as link, count(*) as n_rows
from {{ ref('stg_s2ag__citations') }}
where cited_corpus_id is null

union all

select
    unnest([
        'reliance_on_science: citing patent',
        'reliance_on_science: OpenAlex work',
        'reliance_on_science: DOI of the work',
        'reliance_on_science: paper with the DOI'
    ]) as link,
    unnest([
        count(*) filter (where citing_id is null),
        count(*) filter (where not has_work),
        count(*) filter (where has_work and doi is null),
        count(*) filter (where doi is not null and cited_id is null)
    ]) as n_rows
from {{ ref('int_patent_paper_links') }}
order by link
