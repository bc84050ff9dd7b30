{#
  Which documents are drawn as the queries of a retrieval task: the CTE `drawn` (query_id,
  task_year, is_extra, query_rank), from a CTE `eligible` (query_id, task_year).

  A share of each year's eligible queries is drawn in the order of their hash: query_share, or
  min_queries of all eligible ones where that is more; rounded up within each year. Counts are
  multiplied and divided as whole numbers, so that no draw hangs on a rounded fraction.
  is_extra: drawn because the share rose above query_share.

  at_most: where given, the draw is this many of all eligible ones instead, or all of them;
      rounded down within each year.

  Sources: paper, Appendix B.5 (1% of each year) and B.3 (at most 2,000); the rest our choice.
#}
{% macro task_draw(task, at_most=none) -%}
counted as (
    select
        query_id,
        task_year,
        {{ stable_rank('query_id', 'query:' ~ task) }} as draw_order,
        count(*) over (partition by task_year) as n_year,
        count(*) over () as n_all
    from eligible
),

shared as (
    select
        query_id,
        task_year,
        draw_order,
        row_number() over (partition by task_year order by draw_order, query_id) as year_rank,
        ceil(cast({{ var('query_share') }} as decimal(9, 6)) * n_year) as n_published,
        {% if at_most is none %}
            ({{ var('min_queries') }} * n_year + n_all - 1) // n_all as n_raised
        {% else %}
            {{ at_most }} * n_year // greatest(n_all, {{ at_most }}) as n_raised
        {% endif %}
    from counted
),

drawn as (
    select
        query_id,
        task_year,
        year_rank > n_published as is_extra,
        row_number() over (
            order by year_rank > n_published, draw_order, query_id
        ) as query_rank
    from shared
    where year_rank <= {{ 'greatest(n_published, n_raised)' if at_most is none else 'n_raised' }}
)
{%- endmacro %}

{#
  Every eligible query of a task, and whether it was drawn: for tasks whose pairs are too many to
  be made for more queries than those drawn.

  eligible: relation (query_id, task_year).
#}
{% macro task_queries(task, eligible, at_most=none) -%}
with eligible as (
    select
        query_id,
        task_year
    from {{ eligible }}
),

{{ task_draw(task, at_most) }}

select
    eligible.query_id,
    eligible.task_year,
    drawn.query_rank,
    drawn.query_id is not null as is_drawn,
    coalesce(drawn.is_extra, false) as is_extra
from eligible
left join drawn on eligible.query_id = drawn.query_id
order by eligible.task_year, eligible.query_id
{%- endmacro %}

{#
  The pairs of the queries drawn for a retrieval task, and what became of each.

  pairs: relation (query_id, doc_id, task_year, label_year) with every relevant document of every
      eligible query. A task is its pairs; all else is here.
  documents: relation (doc_id, title, abstract), for the overlap of query and relevant document;
      none where a query is no document.
  corpus_size: the most documents the corpus may hold.
  queries: relation made by task_queries, where the pairs are those of the drawn alone; else the
      draw is made here, from the queries that have pairs.

  A query is never in the corpus. On a small lake, where most documents are drawn, that rule
  would take away the relevant documents of nearly every query. So a document that was drawn only
  because the share rose, and that a query drawn before it counts as relevant, is released to the
  corpus. Queries of the published share are never released: where it is enough, nothing changes.

  fate: 'kept'; 'released', the query was given back to the corpus; 'relevant_is_query', the
  relevant document is a query; 'corpus_full', the query was dropped because its relevant
  documents and those of the queries before it are more than the corpus holds.

  Sources: paper, Appendix B.5 (queries not in the corpus); the rest our choice.
#}
{% macro task_drawn_pairs(task, pairs, documents, corpus_size, queries=none) -%}
with pairs as (
    select
        query_id,
        doc_id,
        task_year,
        label_year
    from {{ pairs }}
),

{% if queries is none %}
eligible as (
    select distinct
        query_id,
        task_year
    from pairs
),

{{ task_draw(task) }},
{% else %}
drawn as (
    select
        query_id,
        is_extra,
        query_rank
    from {{ queries }}
    where is_drawn
),
{% endif %}

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
)

{% if documents is none %}
select
    query_id,
    doc_id,
    task_year,
    label_year,
    query_rank,
    fate,
    cast(null as double) as trigram_overlap
from judged
order by task_year, query_id, doc_id
{% else %}
, trigrams as (
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
{% endif %}
{%- endmacro %}

{#
  The documents that a retrieval task ranks: every relevant document that was kept, then fillers
  in the order of their hash until the corpus is full or there are no more. No query is among
  them, not even one that was dropped or lost its relevant documents. All tasks fill in one order,
  so that their corpora overlap and a document is embedded for all of them at once.

  drawn: relation made by task_drawn_pairs. fillers: relation with doc_id; none for a task whose
  negatives are the relevant documents of other queries. parts: relation with the doc_id of every
  document that is part of a query, where a query is made of several.
#}
{% macro task_corpus(drawn, fillers=none, corpus_size=none, parts=none) -%}
with relevant as (
    select distinct doc_id
    from {{ drawn }}
    where fate = 'kept'
)

{% if fillers is none %}
select doc_id
from relevant
order by doc_id
{% else %}
, ranked as (
    select
        doc_id,
        row_number() over (
            order by {{ stable_rank('doc_id', 'corpus') }}, doc_id
        ) as fill_rank
    from {{ fillers }}
    where
        doc_id not in (select relevant.doc_id from relevant)
        and doc_id not in (select query_id from {{ drawn }} where fate <> 'released')
        {% if parts is not none %}
            and doc_id not in (select parts.doc_id from {{ parts }} as parts)
        {% endif %}
)

select doc_id from relevant
union all
select doc_id
from ranked
where fill_rank <= {{ corpus_size }} - (select count(*) from relevant)
order by doc_id
{% endif %}
{%- endmacro %}
