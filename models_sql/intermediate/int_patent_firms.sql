-- One row per patent with its assignee as Founding Patents gives it: the release of 2024 where it
-- is there, else that of 2023 with the assignee listed first. All of it is known at the release:
-- known_year says when the patent was, not the match.
with newer as (
    select
        patent_id,
        '2024-07-10' as release,
        assignee_id,
        organization,
        founding_year,
        founding_score,
        is_vc_backed,
        vc_score,
        is_public,
        is_foreign
    from {{ ref('stg_ocpb__assignee_at_filing') }}
    qualify row_number() over (
        partition by patent_id order by assignee_id, vc_score, founding_score
    ) = 1
),

older as (
    select
        patent_id,
        '2023-12-02' as release,
        assignee_id,
        organization,
        founding_year,
        founding_score,
        is_vc_backed,
        vc_score,
        -- Universities alone are marked: hospitals and government bodies are not told apart.
        is_university as is_public,
        country <> 'US' as is_foreign
    from {{ ref('stg_ocpb__patent_ocpb') }}
    where not exists (select 1 from newer)
    qualify row_number() over (
        partition by patent_id order by assignee_sequence, assignee_id, vc_score
    ) = 1
)

select
    patents.doc_id,
    patents.known_year,
    firms.*
from (
    select * from newer
    union all
    select * from older
) as firms
inner join {{ ref('int_patents') }} as patents on firms.patent_id = patents.patent_id
order by patents.known_year, patents.doc_id
