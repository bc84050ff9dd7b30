-- Each citation once, of another document than itself. One that is known through several links is
-- known through the first of them; 0 where nothing but its two documents dates it. A table of its
-- own, so that the memory of distinct pairs is free again before they are joined and sorted.
select
    citing_id,
    cited_id,
    min(coalesce(link_year, 0)) as link_year
from {{ ref('int_citations_unioned') }}
where citing_id <> cited_id
group by citing_id, cited_id
