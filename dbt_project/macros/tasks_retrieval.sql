{#
  The pairs of the queries drawn for a retrieval task, and what became of each.

  pairs: relation (query_id, doc_id, task_year, label_year) with every relevant document of every
      eligible query. A task is its pairs; all else is here.
  documents: relation (doc_id, title, abstract), for the overlap of query and relevant document.
  corpus_size: the most documents the corpus may hold.

  A share of each year's eligible queries is drawn in the order of their hash: query_share, or
  min_queries of all eligible ones where that is more; rounded up within each year. Counts are
  multiplied and divided as whole numbers, so that no draw hangs on a rounded fraction.

  A query is never in the corpus. On a small lake, where most documents are drawn, that rule
  would take away the relevant documents of nearly every query. So a document that was drawn only
  because the share rose, and that a query drawn before it counts as relevant, is released to the
  corpus. Queries of the published share are never released: where it is enough, nothing changes.

  fate: 'kept'; 'released', the query was given back to the corpus; 'relevant_is_query', the
  relevant document is a query; 'corpus_full', the query was dropped because its relevant
  documents and those of the queries before it are more than the corpus holds.

  Sources: paper, Appendix B.5 (1% of each year, queries not in the corpus); the rest our choice.
#}
{% macro task_drawn_pairs(task, pairs, documents, corpus_size) -%}
with pairs as (
    select
        query_id,
        doc_id,
        task_year,
        label_year
    from {{ pairs }}
),

eligible as (
    select distinct
        query_id,
        task_year,
        {{ stable_rank('query_id', 'query:' ~ task) }} as draw_order
    from pairs
),

counted as (
    select
        query_id,
        draw_order,
        row_number() over (partition by task_year order by draw_order, query_id) as year_rank,
        count(*) over (partition by task_year) as n_year,
        count(*) over () as n_all
    from eligible
),

shared as (
    select
        query_id,
        draw_order,
        year_rank,
        ceil(cast({{ var('query_share') }} as decimal(9, 6)) * n_year) as n_published,
        ({{ var('min_queries') }} * n_year + n_all - 1) // n_all as n_raised
    from counted
),

drawn as (
    select
        query_id,
        year_rank > n_published as is_extra,
        row_number() over (
            order by year_rank > n_published, draw_order, query_id
        ) as query_rank
    from shared
    where year_rank <= greatest(n_published, n_raised)
),

released as (
    select distinct later.query_id
    from pairs
    inner join drawn as earlier on pairs.query_id = earlier.query_id
    inner join drawn as later on pairs.doc_id = later.query_id
    where later.is_extra and earlier.query_rank < later.query_rank
),

queries as (
    select
        query_id,
        query_rank
    from drawn
    where query_id not in (select released.query_id from released)
),

-- How many documents the corpus needs for a query and all queries before it.
first_wanted as (
    select
        pairs.doc_id,
        min(queries.query_rank) as query_rank
    from pairs
    inner join queries on pairs.query_id = queries.query_id
    where pairs.doc_id not in (select queries.query_id from queries)
    group by pairs.doc_id
),

needed as (
    select
        queries.query_id,
        sum(count(first_wanted.doc_id)) over (order by queries.query_rank) as n_documents
    from queries
    left join first_wanted on queries.query_rank = first_wanted.query_rank
    group by queries.query_id, queries.query_rank
),

judged as (
    select
        pairs.query_id,
        pairs.doc_id,
        pairs.task_year,
        pairs.label_year,
        drawn.query_rank,
        case
            when needed.query_id is null then 'released'
            when pairs.doc_id in (select queries.query_id from queries)
                then 'relevant_is_query'
            when needed.n_documents > {{ corpus_size }} then 'corpus_full'
            else 'kept'
        end as fate
    from pairs
    inner join drawn on pairs.query_id = drawn.query_id
    left join needed on pairs.query_id = needed.query_id
),

trigrams as (
    select
        doc_id,
        {{ task_word_trigrams("title || ' ' || abstract") }} as word_trigrams
    from {{ documents }}
    where doc_id in (
        select judged.query_id from judged where judged.fate = 'kept'
        union all
        select judged.doc_id from judged where judged.fate = 'kept'
    )
)

select
    judged.query_id,
    judged.doc_id,
    judged.task_year,
    judged.label_year,
    judged.query_rank,
    judged.fate,
    len(list_intersect(relevant.word_trigrams, query.word_trigrams))
        / nullif(len(relevant.word_trigrams), 0) as trigram_overlap
from judged
left join trigrams as query
    on judged.query_id = query.doc_id and judged.fate = 'kept'
left join trigrams as relevant
    on judged.doc_id = relevant.doc_id and judged.fate = 'kept'
order by judged.task_year, judged.query_id, judged.doc_id
{%- endmacro %}

{#
  The documents that a retrieval task ranks: every relevant document that was kept, then fillers
  in the order of their hash until the corpus is full or there are no more. No query is among
  them, not even one that was dropped or lost its relevant documents. All tasks fill in one order,
  so that their corpora overlap and a document is embedded for all of them at once.

  drawn: relation made by task_drawn_pairs. fillers: relation with doc_id.
#}
{% macro task_corpus(drawn, fillers, corpus_size) -%}
with relevant as (
    select distinct doc_id
    from {{ drawn }}
    where fate = 'kept'
),

ranked as (
    select
        doc_id,
        row_number() over (
            order by {{ stable_rank('doc_id', 'corpus') }}, doc_id
        ) as fill_rank
    from {{ fillers }}
    where
        doc_id not in (select relevant.doc_id from relevant)
        and doc_id not in (select query_id from {{ drawn }} where fate <> 'released')
)

select doc_id from relevant
union all
select doc_id
from ranked
where fill_rank <= {{ corpus_size }} - (select count(*) from relevant)
order by doc_id
{%- endmacro %}
