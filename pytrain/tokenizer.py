"""One tokenizer per cutoff: byte-level BPE on the papers and patents of the slice, no web page.

Source: paper, "Tokenizer": vocabulary of 50,368, trained on S2ORC, Abstracts and USPTO as of y.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from pytrain.config import Settings, TokenizerSettings
from pytrain.layout import sha256_of
from pytrain.run import Run, need_run
from warehouse.errors import UserError
from warehouse.tables import Lake, empty_slice

# The same ids in every vintage and preset, so that a model's shape says nothing of its year.
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
WEB_SOURCES = ("fineweb_edu",)  # never read by a tokenizer
_COLUMNS = ("source", "doc_id", "text")
_DAMPING_WINDOW = 4_000  # characters in which a repeat is looked for; our choice


def run(settings: Settings, year: int, *, seed: int = 0, force: bool = False) -> Path:
    """Train the tokenizer of a cutoff; the run's folder.

    Raises:
        UserError: the slice holds no text, or gives fewer tokens than the vocabulary must have.
    """
    chosen = settings.tokenizer
    with Lake() as lake, Run("tokenizer", settings, year, seed=seed, lake=lake, force=force) as run:
        threshold, counted = sample_threshold(lake, year, chosen)
        run.say(f"{counted['texts']:,} texts of {counted['bytes'] / 1e6:,.1f} MB")
        tokenizer = train_tokenizer(sampled_texts(lake, year, chosen, threshold), chosen)
        size = checked_size(tokenizer, chosen)
        write_tokenizer(tokenizer, run.folder, settings.mlm.max_length)
        own = {"kind": "tokenizer", "cutoff": year, "preset": settings.preset}
        own["tokenizer_sha256"] = sha256_of(run.folder / "tokenizer.json")
        text = json.dumps(own, indent=2) + "\n"
        (run.folder / "scitlake.json").write_text(text, encoding="utf-8")
        run.note(vocab_size=size, sample=counted, sample_threshold=f"{threshold:016x}")
        if size < chosen.vocab_size:
            run.say(f"the slice gives {size:,} tokens, not the {chosen.vocab_size:,} asked for")
        run.log(0, vocab_size=size, texts=counted["texts"], bytes=counted["bytes"])
    return run.final


def checked_size(tokenizer: Tokenizer, settings: TokenizerSettings) -> int:
    """The number of tokens, when it and the special ids are as they must be.

    Raises:
        UserError: fewer tokens than `vocab_size`, and the settings ask for exactly that many.
    """
    size, special = tokenizer.get_vocab_size(), [*map(tokenizer.token_to_id, SPECIAL_TOKENS)]
    if size > settings.vocab_size or special != list(range(len(SPECIAL_TOKENS))):
        raise RuntimeError(f"the trainer made {size} tokens with special ids {special}")
    if settings.exact_size and size < settings.vocab_size:
        raise UserError(
            f"the slice gives {size:,} tokens, and the vocabulary must have "
            f"{settings.vocab_size:,}. Lower it: --set tokenizer.vocab_size={size}, "
            "or take what there is: --set tokenizer.exact_size=false"
        )
    return size


def new_tokenizer(settings: TokenizerSettings) -> Tokenizer:
    """An untrained tokenizer: normaliser, byte-level split, [CLS] text [SEP]."""
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIAL_TOKENS[UNK]))
    steps = [normalizers.NFKC()] if settings.nfkc else []
    steps += [normalizers.Lowercase()] if settings.lowercase else []
    if steps:
        tokenizer.normalizer = normalizers.Sequence(steps)
    # With a space before the first word too, a word is one token wherever it stands.
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    return tokenizer


def train_tokenizer(texts: Iterable[list[str]], settings: TokenizerSettings) -> Tokenizer:
    """Learn the merges; the same texts in the same order give the same bytes."""
    tokenizer = new_tokenizer(settings)
    trainer = trainers.BpeTrainer(
        vocab_size=settings.vocab_size,
        min_frequency=settings.min_frequency,
        special_tokens=list(SPECIAL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def sample_keys(sources: pa.Array, doc_ids: pa.Array) -> np.ndarray:
    """(N,) uint64: the draw of each text, by md5 of its own name alone."""
    names = (f"{s}:{d}" for s, d in zip(sources.to_pylist(), doc_ids.to_pylist(), strict=True))
    digests = (hashlib.md5(f"tokenizer:{name}".encode()).digest()[:8] for name in names)
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


def sample_threshold(
    lake: Lake, year: int, settings: TokenizerSettings
) -> tuple[int, dict[str, int]]:
    """The highest key read, so that the texts of the slice fit the byte budget.

    The texts with the lowest keys are taken. A later year can only lower the threshold, so what
    it reads of this slice is a part of what this year reads, and no later row is ever counted.

    Raises:
        UserError: no text of papers or patents as of the year.
    """
    keys, sizes = [], []
    for batch in _texts(lake, year, settings):
        keys.append(sample_keys(batch.column("source"), batch.column("doc_id")))
        sizes.append(pc.binary_length(batch.column("text")).to_numpy().astype(np.int64))
    if not keys:
        raise empty_slice("pretrain_text", year, "the tokenizer (web pages do not count)")
    key, size = np.concatenate(keys), np.concatenate(sizes)
    order = np.argsort(key, kind="stable")
    fits = int(np.searchsorted(np.cumsum(size[order]), settings.byte_budget, side="right"))
    last = order[max(fits, 1) - 1]
    taken = key <= key[last]
    return int(key[last]), {"texts": int(taken.sum()), "bytes": int(size[taken].sum())}


def sampled_texts(
    lake: Lake, year: int, settings: TokenizerSettings, threshold: int
) -> Iterator[list[str]]:
    """The sampled texts of the slice in its stored order, in lists."""
    for batch in _texts(lake, year, settings):
        keys = sample_keys(batch.column("source"), batch.column("doc_id"))
        chosen = batch.filter(pa.array(keys <= np.uint64(threshold)))
        if chosen.num_rows:
            yield chosen.column("text").to_pylist()


def _texts(lake: Lake, year: int, settings: TokenizerSettings) -> Iterator[pa.RecordBatch]:
    """Paper and patent texts of the slice, cut to the characters that are read."""
    for batch in lake.batches(
        "pretrain_text",
        _COLUMNS,
        cutoff=year,
        rows=8_192,
        basis=settings.basis,
        licence_at_most=settings.licence_at_most,
    ):
        web = pc.is_in(batch.column("source"), pa.array(WEB_SOURCES))
        kept = batch.filter(pc.invert(web))
        if settings.first_characters is not None:
            text = pc.utf8_slice_codeunits(kept.column("text"), 0, settings.first_characters)
            kept = kept.set_column(2, "text", text)
        if kept.num_rows:
            yield kept


def write_tokenizer(tokenizer: Tokenizer, folder: Path, max_length: int) -> None:
    """tokenizer.json and the two small files that make `AutoTokenizer` open the folder."""
    named = {
        f"{kind}_token": SPECIAL_TOKENS[i] for i, kind in enumerate(("pad", "unk", "cls", "sep"))
    }
    named["mask_token"] = SPECIAL_TOKENS[MASK]
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max_length,
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
        **named,
    }
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, content in (("tokenizer_config.json", config), ("special_tokens_map.json", named)):
        text = json.dumps(content, indent=2) + "\n"
        (folder / name).write_text(text, encoding="utf-8")


def tokenizer_run(settings: Settings, year: int, seed: int = 0) -> Path:
    """The folder of a cutoff's tokenizer.

    Raises:
        UserError: not trained yet, or its file is another one than it was trained as.
    """
    folder = need_run(settings, year, "tokenizer", seed)
    own = json.loads((folder / "scitlake.json").read_text(encoding="utf-8"))
    if own["tokenizer_sha256"] != sha256_of(folder / "tokenizer.json") or own["cutoff"] != year:
        raise UserError(
            f"{folder / 'tokenizer.json'} is not the tokenizer of {year} that was trained there. "
            f"Train it again: pytrain tokenizer --year {year} --force"
        )
    return folder


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a run or model folder, without truncation or padding.

    "[MASK]" and the like written in a text are read as letters, not as special tokens.
    """
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def damped(tokenizer: Tokenizer, repeats: int | None) -> Tokenizer:
    """The same vocabulary, but a word or mark counts at most `repeats` times in a text.

    Patents say the same word over and over: damping its count is what sublinear term frequency
    does for TF-IDF. It stands in the tokenizer, so that every library that opens the model folder
    does the same. A repeat is looked for within the next characters only, which bounds the cost.

    Args:
        tokenizer: of the vintage.
        repeats: 1 or more; None: the tokenizer as it is.
    """
    if repeats is None:
        return tokenizer
    between = rf"[\s\S]{{0,{_DAMPING_WINDOW}}}?"
    steps = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
    steps += [
        normalizers.Replace(Regex(rf"\b(\w+)\b(?=(?:{between}\b\1\b){{{repeats}}})"), ""),
        normalizers.Replace(Regex(rf"([^\w\s])(?=(?:{between}\1){{{repeats}}})"), ""),
        # A mark whose word is gone would join the space before it, which is another token.
        normalizers.Replace(Regex(r"\s+(?=[,.;:)\]\s])"), ""),
    ]
    tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def has_token(tokenizer: Tokenizer, word: str) -> bool:
    """Whether the vocabulary holds the word as one token."""
    return len(tokenizer.encode(word, add_special_tokens=False).ids) == 1


def known_terms(tokenizer: Tokenizer, terms: dict[str, int]) -> dict[int, tuple[list[str], int]]:
    """Per year of coining: the terms that are one token, and how many were coined.

    Args:
        tokenizer: of any vintage.
        terms: term -> the year in which it was coined.
    """
    found = {}
    for year in sorted(set(terms.values())):
        coined = sorted(term for term, when in terms.items() if when == year)
        found[year] = ([term for term in coined if has_token(tokenizer, term)], len(coined))
    return found
