"""`lake report`: how large the corpus, the graph and the anchor pools are at each cutoff."""

from pathlib import Path
from typing import Any

import polars as pl

from warehouse.errors import UserError
from warehouse.tables import Lake

REPORTS = {
    "corpus": "audit.corpus_by_year",
    "graph": "graph.graph_by_year",
    "anchors": "graph.anchors_by_year",
}
CALIBRATED_ON = 10_000  # documents of each source (paper, Table 5)


def report(lake: Lake, name: str, asof: int | None, tokenizer: Path | None) -> pl.DataFrame:
    """One of `REPORTS`, for every cutoff or for one.

    Args:
        lake: an open lake.
        name: a key of `REPORTS`.
        asof: the one cutoff wanted.
        tokenizer: tokenizer.json, or a folder that holds one; the corpus is then estimated with
            the tokens that it makes of a word, source by source.

    Raises:
        UserError: a cutoff that the lake does not hold or the report leaves out; no tokenizer.
    """
    if tokenizer is not None and name != "corpus":
        raise UserError(f"a tokenizer changes nothing in the report on {name}; leave it out.")
    found = pl.from_arrow(lake.query(f"select * from {REPORTS[name]}"))
    assert isinstance(found, pl.DataFrame)
    if asof is not None:
        lake.check_year(asof)
        found = found.filter(pl.col("cutoff") == asof)
        if found.is_empty():
            raise UserError(
                f"the report on {name} has no row for {asof}. See its cutoffs: lake report {name}"
            )
    if tokenizer is None:
        return found
    factors = tokens_per_word(lake, tokenizer, sorted(set(found["source"])))
    return found.with_columns(
        (pl.col("n_words") * pl.col("source").replace_strict(factors, return_dtype=pl.Float64))
        .round()
        .cast(pl.Int64)
        .alias("n_tokens")
    )


def tokens_per_word(lake: Lake, tokenizer: Path, sources: list[str]) -> dict[str, float]:
    """Tokens that a tokenizer makes of a word, by source, without special tokens.

    Calibrated on the texts of lowest hash, up to `CALIBRATED_ON` a source.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise UserError(
            "tokenizers is not installed, so nothing can be calibrated: pip install -e '.[train]'"
        ) from error
    file = tokenizer / "tokenizer.json" if tokenizer.is_dir() else tokenizer
    if not file.is_file():
        raise UserError(f"no tokenizer at {file}. Make one with: pytrain tokenizer --year 2013")
    try:
        model: Any = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more special
        raise UserError(
            f"{file} is no tokenizer: {error}. Make one with: pytrain tokenizer --year 2013"
        ) from error
    factors = {}
    for source in sources:
        assert source.isidentifier()
        n_words = n_tokens = 0
        # The texts are chosen by their ids, so that no text is sorted.
        rows = lake.query(
            f"""
            with chosen as (
                select doc_id from corpus.pretrain_text where source = '{source}'
                order by md5('tokens:' || doc_id), doc_id limit {CALIBRATED_ON}
            )
            select text from corpus.pretrain_text
            where source = '{source}' and doc_id in (select doc_id from chosen)
            """
        )
        for batch in rows:
            texts = batch.column("text").to_pylist()
            n_words += sum(len(text.split()) for text in texts)
            encoded = model.encode_batch_fast(texts, add_special_tokens=False)
            n_tokens += sum(len(one.ids) for one in encoded)
        factors[source] = n_tokens / max(n_words, 1)
    return factors
