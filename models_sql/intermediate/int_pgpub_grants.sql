-- Which publication and which grant are of one application, both known to this lake, by the
-- crosswalk of PatentsView: the pre-grant document and the patent, with the years of each. The
-- application is the publication's own, so that what joins two publications needs no grant.
select distinct
    publications.doc_id as pgpub_doc_id,
    publications.filing_year,
    patents.doc_id as patent_doc_id,
    patents.known_year as grant_year,
    publications.application_id
from {{ ref('stg_patentsview__pg_granted_pgpubs_crosswalk') }} as crosswalk
inner join {{ ref('int_publications') }} as publications
    on crosswalk.pgpub_id = publications.pgpub_id
inner join {{ ref('int_patents') }} as patents
    on crosswalk.patent_id = patents.patent_id
