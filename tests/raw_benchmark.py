"""Raw files of the benchmark's sources by hand, as their publishers write them, faults and all."""

import gzip
import json
from pathlib import Path

from raw_folder import PATENT, patent, write_required, write_tsv, write_zip

# The comment gives the line of the file, then what is wrong with it.
FEES = [
    "0000007000001 07123456 N 20040101 20060110 20090701 M1551",  # 1
    "0000007000001 07123456 Y 20040101 20060110 20140110 EXPX ",  # 2
    "0000007000001 07123456 Y 20040101 20060110 20140110 EXP. ",  # 3 of the same day
    "000000RE35000 08123456 N 00000000 19950801 19990201 M184 ",  # 4 zeros are no date
    "0000007000002 07123457 Y          20060110 20090701 M2551",  # 5 blanks keep their place
    " 7000002  07123457   M 20040101 20060110 20100101 REM.",  # 6 fields by blanks alone
    "0000007000002 07123457 Y 20040101 20060110 2009-701 M2551",  # 7 malformed: no date
    "0000007000002 07123457",  # 8 malformed: cut short
    "",  # 9 nothing
    "0000007000002 07123457 Y 20040101 20060110 00000000 M2551",  # 10 undated
    "0000009999999 07123457 N 20040101 20060110 20090701 M1551",  # 11 of a patent not held
    "0000007000001 07123456 N 20040101 20060110 20090701 M1551",  # 12 again
]
# The layout before June 2018; the first event stands in the newer release as well.
OLD_FEES = [
    "7000001 07123456 N 20040101 20060110 20090701 M1551",
    "RE35000 08123456 N 19930801 19950801 20021201 M185 ",
]
KPSS_2023 = "issue_date,permno,patent_num,xi_nominal,xi_real,cites,filing_date\n"
KPSS_2024 = "patent_num,xi_real,xi_nominal,cites,issue_date,filing_date,permno\n"


def write_benchmark(root: Path) -> Path:
    """Write the required tables and each source of the benchmark; returns the folder."""
    write_required(root)
    patents = [patent(7000001, "2006-01-10"), patent(7000002, "2006-01-10"), patent(7000003)]
    patents.append(patent("RE35000", "1995-08-01", kind="reissue"))
    write_tsv(root / "patentsview/g_patent.tsv", PATENT, patents)
    _write_uspto(root / "uspto")
    _write_works(root / "openalex/works/updated_date=2026-01-01/part_000.gz")
    _write_text(
        root / "patent_paper_pairs/_patent_paper_pairs.tsv",
        "patent\tpaperid\tppp_score\tdaysdiffcont\tall_patents_for_the_same_paper\n"
        "US-7000001\tW7\t3\t-12\tUS-7000001,US-7000002\n"
        "US-7000002\tW7\t4.0\t\t\n"
        "US-PP34398\tW7\t2\t1\t\n"
        "US-7000002\tW8\t5\t1\t\n"  # 5 malformed: no such score
        "US-7000002\tA8\t4\t1\t\n",  # 6 malformed: an author
    )
    name, rows = "KPSS_2024.csv", "7000001,1.5,3.5,,01/10/2006,,10107\n7000003,nan,1,2,,,1\n"
    write_zip(root / "kpss/KPSS_2024.zip", name, KPSS_2024 + rows)
    write_zip(
        root / "kpss/KPSS_2023.zip",
        "KPSS_2023.csv",
        KPSS_2023 + "2006-01-10,10107,7000001,9.5,9.9,4,2004-01-01\n",
    )
    _write_text(
        root / "ocpb/ocpb_assigneeatfiling.csv",
        "﻿Patent_ID,Founding_Year,founding_score,VC_backed_assignee,VC_score,initassignee_id,"
        "initassignee_organization,univ_hospital_gov,foreign\r\n"
        '7000001,1990.0,9,1,8,a-1,"Firm 001, Inc.",0,0\r\n'
        "7000002,,,,,a-2,University 01,1,1\r\n"
        "D700000,1990,9,1,8,a-1,Firm 001,0,0\r\n",  # 4 malformed: not of type bigint
    )
    _write_text(
        root / "ocpb/_patent_ocpb.csv",
        "patent_id,country,june2022assignee_id,assignee_sequence,assignee_type,organization,"
        "university,Found in OC,founding_year,founding_score,VC_backed_assignee,VC_score\n"
        "7000003,US,a-1,0,2,Firm 001,0,1,1990,9,1,8\n",
    )
    _write_researchers(root / "pqr")
    _write_text(
        root / "european_families/families.csv",
        "family_id,office,publication,application_id,publication_date,title,abstract,cited_work,"
        "confscore,wherefound\n"
        "41,EP,ep-1-a1,11,2001-05-30,Device,On a device.,W7,10,frontonly\n"
        "41,WO,wo-1-a1,12,2000-05-30,Device,,W8,9,bodyonly\n"
        "41,US,us-1-a1,13,2001-01-30,Apparatus,On an apparatus.,,,\n"
        "42,EP,ep-2-a1,14,,Undated,Text.,,,\n"  # 5 undated
        "43,EP,ep-3-a1,15,2002-05-30,Device,Text.,W7,10,nowhere\n",  # 6 malformed
    )
    return root


def _write_uspto(at: Path) -> None:
    text = "0007000003\r\nD0700004\r\nPatent numbers follow\r\n0000000012\r\n"
    write_zip(at / "withdrawn.zip", "withdrawn03312026.txt", text)
    name = "MaintFeeEvents_20260512"
    write_zip(at / f"{name}.zip", f"{name}.txt", "\r\n".join(FEES) + "\r\n")
    _write_text(at / "MaintFeeEvents_20170605.txt", "\n".join(OLD_FEES) + "\n")
    _write_text(at / "MaintFeeEventsDesc_20260512.txt", "M1551 Payment of the fee, 4th year\n")


def _write_works(path: Path) -> None:
    works = [
        {"id": f"https://openalex.org/W{n}", "title": "T", "publication_year": 1990 + n}
        for n in (7, 8)
    ]
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("".join(json.dumps(w) + "\n" for w in works).encode()))


def _write_researchers(at: Path) -> None:
    _write_text(
        at / "pqrs_dataset.tsv",
        "\tinventor_id\tauthor_id\tnumber of comparison\tnumber of match\tinventor_name\n"
        "0\tfl:au_ln:0001-1\tA5000000001\t4\t3\tAuthor 0001\n"
        "1\tfl:au_ln:0002-1\tA2000000002\t2\t0\tAuthor 0002\n",
    )
    _write_text(
        at / "inventorid_patentid.tsv",
        "\tinventor_id\tpatent_id\n0\tfl:au_ln:0001-1\tUS-7000001\n1\tfl:au_ln:0001-1\tUS-999\n"
        "2\t\tUS-7000001\n",  # 4 malformed: no inventor
    )
    _write_text(
        at / "authorid_workid.tsv",
        "work_id\tauthor_id\nW7\tA5000000001\nW999\tA5000000001\nW8\tA77\n",
    )


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
