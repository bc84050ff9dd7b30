"""Zips are unpacked once, and only inside the lake; raw files are found by their declarations."""

import gzip
import zipfile

import duckdb
import pytest
from raw_folder import write_required, write_tsv, write_zip

from warehouse import integrity
from warehouse.errors import UserError
from warehouse.ingest import prepare, unpack
from warehouse.integrity import check_whole
from warehouse.language import language_share, register_language_share
from warehouse.sources import raw_tables

TABLE = "patentsview/g_patent.tsv"


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The raw folder and the lake folder of one test, both empty."""
    monkeypatch.setenv("DATA_ROOT", str(tmp_path / "data"))
    monkeypatch.setenv("SCITLAKE_WAREHOUSE", str(tmp_path / "lake"))
    (tmp_path / "data").mkdir()
    return tmp_path / "data", tmp_path / "lake"


def declared(key):
    return next(table for table in raw_tables() if table.key == key)


def test_a_member_lands_in_the_folder_of_its_zip_and_is_unpacked_once(folders):
    root, lake = folders
    write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "patent_id\n1\n")
    assert unpack(root, lake / "raw") == [lake / "raw" / TABLE]
    assert (lake / "raw" / TABLE).read_text() == "patent_id\n1\n"
    assert unpack(root, lake / "raw") == []


def test_a_changed_zip_is_unpacked_again_and_a_lost_zip_takes_its_member_along(folders):
    root, lake = folders
    raw = lake / "raw"
    write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "old")
    unpack(root, raw)
    write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "new")  # of the same size
    assert unpack(root, raw) == [raw / TABLE]
    assert (raw / TABLE).read_text() == "new"
    (root / f"{TABLE}.zip").unlink()
    unpack(root, raw)
    assert not (raw / TABLE).exists()


def test_a_plain_file_beside_its_zip_is_read_and_the_zip_is_not(folders):
    root, lake = folders
    write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "packed")
    unpack(root, lake / "raw")
    write_tsv(root / TABLE, ("patent_id",), [])
    unpack(root, lake / "raw")
    assert declared("patentsview.g_patent").files(root, lake / "raw", [TABLE]) == [root / TABLE]
    assert not (lake / "raw" / TABLE).exists()


def test_members_that_no_table_reads_stay_packed(folders):
    root, lake = folders
    with zipfile.ZipFile(write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "x"), "a") as archive:
        archive.writestr("readme.txt", "not a table")
    write_zip(root / "patentsview/g_location.tsv.zip", "g_location.tsv", "large")
    assert unpack(root, lake / "raw") == [lake / "raw" / TABLE]


@pytest.mark.parametrize("member", ["../g_patent.tsv", "/g_patent.tsv", "..\\g_patent.tsv"])
def test_a_member_outside_its_folder_is_refused_and_nothing_is_written(folders, member):
    root, lake = folders
    write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "good")
    write_zip(root / "patentsview/zz.tsv.zip", member, "evil")
    with pytest.raises(UserError, match="outside its folder") as refused:
        unpack(root, lake / "raw")
    assert "zz.tsv.zip" in refused.value.message
    assert not list(lake.rglob("*.tsv"))


def test_a_zip_that_was_cut_short_is_named_and_leaves_nothing(folders):
    root, lake = folders
    path = write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "row\n" * 1000)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UserError, match="g_patent.tsv.zip cannot be unpacked"):
        unpack(root, lake / "raw")
    assert not list(lake.rglob("*.tsv*"))


def test_a_zip_with_a_flipped_byte_is_named_and_leaves_nothing(folders):
    root, lake = folders
    path = write_zip(root / f"{TABLE}.zip", "g_patent.tsv", "".join(map(str, range(5000))))
    broken = bytearray(path.read_bytes())
    broken[2000] ^= 0xFF
    path.write_bytes(broken)
    with pytest.raises(UserError, match="g_patent.tsv.zip cannot be unpacked"):
        unpack(root, lake / "raw")
    assert not list(lake.rglob("*.tsv*"))


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"data.tsv": "x"}, "holds 'data.tsv', and no g_patent.tsv"),
        ({}, "holds nothing, and no g_patent.tsv"),
        ({"old/g_patent.tsv": "x", "g_patent.tsv": "y"}, "holds g_patent.tsv twice"),
    ],
)
def test_a_zip_named_after_a_table_must_hold_it_once(folders, members, words):
    root, lake = folders
    (root / "patentsview").mkdir()
    with zipfile.ZipFile(root / f"{TABLE}.zip", "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    with pytest.raises(UserError, match=words):
        unpack(root, lake / "raw")
    assert not list(lake.rglob("*.tsv"))


def test_folders_and_shadow_files_inside_a_zip_do_not_matter(folders):
    root, lake = folders
    path = write_zip(root / "patentsview/g_claims_2010.tsv.zip", "out/g_claims_2010.tsv", "x\n")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/out/._g_claims_2010.tsv", "shadow")
    unpack(root, lake / "raw")
    members = ["patentsview/g_claims_2010.tsv"]
    found = declared("patentsview.g_claims").files(root, lake / "raw", members)
    assert [one.read_text() for one in found] == ["x\n"]


def test_a_folder_or_a_dead_link_in_the_place_of_a_file_is_named(folders):
    root, _ = folders
    write_required(root)
    folder = root / "patentsview/g_claims_2010.tsv"
    folder.mkdir()
    link = root / "s2ag/papers/papers_001.jsonl.gz"
    link.symlink_to(root / "gone")
    with pytest.raises(UserError) as refused:
        prepare()
    assert f"{folder} is a folder" in refused.value.message
    assert f"{link} is a link to nothing" in refused.value.message


def gz(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


LINES = "".join(f"line {n * 7919 % 10007}\n" for n in range(20_000))


@pytest.mark.parametrize(
    "data",
    [gz(LINES), gz("a\n") + gz(LINES), gz(""), gz("a" * 5_000_000), gz("a\n") + bytes(512)],
)
def test_whole_gzip_files_pass(tmp_path, data):
    path = tmp_path / "papers.gz"
    path.write_bytes(data)
    check_whole([path], tmp_path / "raw")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (b"plain text", "no whole gzip file"),
        (gz(LINES)[:-4], "cut short"),
        (gz("a\n") + gz(LINES)[:-4], "cut short"),
        (gz("a\n") + b"words", "no whole gzip file"),
        (gz(LINES)[:-8] + bytes(8), "no whole gzip file"),
        (gzip.compress(gz(LINES)), "it holds another packed file"),
        (gz('[{"corpusid": 1}]'), "it is one JSON array"),
    ],
)
def test_gzip_files_that_are_not_whole_are_named(tmp_path, data, words):
    path = tmp_path / "papers.gz"
    path.write_bytes(data)
    with pytest.raises(UserError, match=f"papers.gz is cut short or damaged: .*{words}"):
        check_whole([path], tmp_path / "raw")


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_one_byte_of_a_gzip_file_turned_over_is_seen(tmp_path, place):
    """DuckDB reads such a file without a word, and loses rows or changes them."""
    data = bytearray(gz(LINES))
    data[int(place * len(data))] ^= 0x10
    (tmp_path / "papers.gz").write_bytes(data)
    with pytest.raises(UserError, match="papers.gz is cut short or damaged"):
        check_whole([tmp_path / "papers.gz"], tmp_path / "raw")


def test_a_file_is_looked_at_again_only_when_it_has_changed(tmp_path, monkeypatch):
    path, seen = tmp_path / "papers.gz", []
    path.write_bytes(gz("a\n"))
    monkeypatch.setitem(integrity.CHECKS, ".gz", lambda found: seen.append(found.name))
    for _ in range(2):
        check_whole([path], tmp_path / "raw")
    assert seen == ["papers.gz"]
    path.write_bytes(gz("another\n"))
    check_whole([path], tmp_path / "raw")
    assert seen == ["papers.gz"] * 2


def test_headers_are_read_without_quotes_byte_order_mark_or_capitals(folders):
    root, _ = folders
    write_required(root)
    ros = root / "reliance_on_science/_pcs_oa.csv"
    ros.parent.mkdir()
    ros.write_text('﻿"RefType",confscore,oaid, patent ,wherefound\r\n', encoding="utf-8")
    found = prepare()
    assert found.headers[str(ros)] == ["reftype", "confscore", "oaid", "patent", "wherefound"]
    assert found.headers[str(root / TABLE)][:2] == ["patent_id", "patent_type"]


def test_a_table_written_with_its_index_has_a_column_without_a_name(folders):
    root, _ = folders
    write_required(root)
    path = root / "pqr/inventorid_patentid.tsv"
    path.parent.mkdir()
    path.write_text("\tinventor_id\tpatent_id\n0\ti\tUS-1\n")
    assert prepare().headers[str(path)] == ["", "inventor_id", "patent_id"]


def test_what_parts_the_fields_goes_by_the_name_of_the_file(folders):
    root, _ = folders
    write_required(root)
    folder = root / "patent_paper_pairs"
    folder.mkdir()
    marks = {}
    for name, mark in (("_patent_paper_pairs.tsv", "\t"), ("_patent_paper_pairs.csv", ",")):
        (folder / name).write_text(mark.join(("paperid", "patent")) + "\n")
        found = prepare()
        marks[name] = found.delimiters[str(folder / name)]
        assert found.headers[str(folder / name)] == ["paperid", "patent"]
    assert marks == {"_patent_paper_pairs.tsv": "\t", "_patent_paper_pairs.csv": ","}


def test_of_releases_that_estimate_anew_the_last_by_name_is_read(folders):
    root, _ = folders
    (root / "kpss").mkdir()
    for year in (2024, 2022, 2023):
        (root / f"kpss/KPSS_{year}.csv").write_text("patent_num\n")
    assert declared("kpss.patent_values").files(root) == [root / "kpss/KPSS_2024.csv"]


def test_of_two_releases_of_reliance_on_science_the_newer_is_read(folders):
    root, _ = folders
    folder = root / "reliance_on_science"
    folder.mkdir()
    for name in ("_pcs_oa.csv", "pcs_oa_uspto.csv"):
        (folder / name).write_text("reftype\n")
    assert declared("ros.pcs_oa").files(root) == [folder / "pcs_oa_uspto.csv"]


def test_missing_required_tables_are_all_named_with_where_to_get_them(folders):
    root, _ = folders
    write_required(root)
    (root / TABLE).unlink()
    (root / "s2ag/citations/citations_000.jsonl.gz").unlink()
    missing = prepare().missing()
    assert sorted(missing) == ["patentsview.g_patent", "s2ag.citations"]
    assert all("get it from: http" in line for line in missing.values())


def test_a_raw_folder_that_does_not_exist_is_said_plainly(folders, monkeypatch):
    monkeypatch.setenv("DATA_ROOT", str(folders[0] / "nowhere"))
    with pytest.raises(UserError, match="nowhere is no folder"):
        prepare()


def test_english_is_told_from_french_and_line_breaks_do_not_matter():
    english = "We study how citations to earlier work\npredict the value of an invention."
    french = "Nous étudions comment les citations\nprédisent la valeur d'une invention."
    assert language_share(english) > 0.6
    assert language_share(french) < 0.1
    assert language_share(english) == language_share(english.replace("\n", " "))
    assert 0.0 <= language_share("") <= 1.0


def test_sql_scores_texts_as_python_does_and_null_stays_null():
    with duckdb.connect() as con:
        register_language_share(con)
        texts = ["The cat sat on the mat.", "Der Hund bellt laut.", None]
        found = con.cursor().execute(
            "select language_share(text) from (select unnest(?) as text)", [texts]
        )
        assert [row[0] for row in found.fetchall()] == [
            pytest.approx(language_share(texts[0])),
            pytest.approx(language_share(texts[1])),
            None,
        ]
