-- OpenAlex gives an abstract as a map from word to its positions. Words go back in order of
-- position; positions may have gaps, and where two words claim one, the lesser word comes first.
with works as (
    select
        *,
        nullif(
            array_to_string(
                list_transform(
                    list_sort(
                        flatten(
                            list_transform(
                                map_entries(abstract_inverted_index),
                                lambda entry: list_transform(
                                    list_filter(
                                        entry.value, lambda place: place is not null
                                    ),
                                    lambda place: { 'place': place, 'word': entry.key }
                                )
                            )
                        )
                    ),
                    lambda item: item.word
                ),
                ' '
            ),
            ''
        ) as abstract
    from {{ read_source('openalex', 'works') }}
)

select
    {{ openalex_work_id('id') }} as work_id,
    {{ openalex_doc_id(openalex_work_id('id')) }} as doc_id,
    {{ normalize_doi('doi') }} as doi,
    title,
    {{ plausible_year('publication_year') }} as publication_year,
    language,
    type,
    is_paratext,
    is_retracted,
    is_xpac,
    {{ clean_abstract('abstract') }} as abstract,
    {{ licence_code('license') }} as licence
from works
