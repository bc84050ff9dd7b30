-- The first version of S2ORC holds title, authors, abstract, body and references in one text. The
-- body is what its annotations call a section title or a paragraph, behind the abstract and before
-- the references. A view: long text is stored once, as Parquet, by corpus.pretrain_text.
{{ config(materialized='view') }}
with spans as (
    select
        corpusid,
        text,
        license,
        {{ s2orc_spans('abstract', 'text') }} as abstracts,
        {{ s2orc_spans('sectionheader', 'text') }} as headers,
        {{ s2orc_spans('paragraph', 'text') }} as paragraphs,
        {{ s2orc_spans('bibentry', 'text') }} as entries
    from {{ read_source('s2ag', 's2orc') }}
),

bounds as (
    select
        *,
        list_max(list_transform(abstracts, lambda span: span.last)) as body_first,
        coalesce(
            list_min(list_transform(entries, lambda span: span.first)), length(text)
        ) as body_last
    from spans
),

bodies as (
    select
        corpusid,
        license,
        text,
        body_first,
        body_last,
        list_filter(
            list_transform(
                list_sort(list_distinct(list_concat(headers, paragraphs))),
                lambda span: {
                    'first': greatest(span.first, coalesce(body_first, 0)),
                    'last': least(span.last, body_last)
                }
            ),
            lambda span: span.first < span.last
        ) as pieces,
        len(paragraphs) > 0 as has_paragraphs
    from bounds
)

select
    corpusid as corpus_id,
    case
        when has_paragraphs
            then
                array_to_string(
                    list_transform(
                        pieces,
                        lambda span: trim(
                            substring(
                                text, span.first + 1, span.last - span.first
                            ),
                            e' \n\r\t'
                        )
                    ),
                    chr(10)
                )
        -- Without an abstract nothing tells where the front matter ends.
        when body_first is not null
            then
                trim(
                    substring(
                        text, body_first + 1, greatest(body_last - body_first, 0)
                    ),
                    e' \n\r\t'
                )
    end as body_text,
    {{ licence_code('license') }} as licence
from bodies
