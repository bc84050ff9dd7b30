"""The card of a model: what it knows and until when, from what, how, and what it is not for."""

from typing import Any

_WHERE = {
    "pretrain": "a ModernBERT encoder trained from scratch by masked language modelling",
    "ci": "an encoder tuned on the citation graph, from a masked-language model of the same year",
    "static": "a table of token vectors, tuned on pairs of texts and on the citation graph",
    "static-ci": "an encoder tuned on the citation graph, over the token vectors of the same year",
}


# Where the licence of a source of the text is declared, as `source.table` of the raw tables.
_RAW = {
    "s2orc": "s2ag.s2orc",
    "abstracts": "s2ag.abstracts",
    "uspto": "patentsview.pg_",
    "granted_text": "patentsview.g_",
    "fineweb_edu": "fineweb.",
}
UNSCORED = """Not scored yet. `pyeval run {name}` scores it, `pyeval card {name}` writes the
scores and the geometry of its vectors here."""


def card_text(run: dict[str, Any], own: dict[str, Any], settings: dict[str, Any]) -> str:
    """The README.md of a model folder.

    Args:
        run: run.json, or what is known of it so far.
        own: the folder's scitlake.json.
        settings: those of its stage, by dotted key.
    """
    year, name = run["cutoff"], run["name"]
    head = _front_matter(own)
    return f"""{head}
# {name}: knows nothing after {year}

**Cutoff: {year}.** {_what(run)}. Tokenizer, weights and training examples were made from records
known by the end of {year}; no later row was read. Preset `{run["preset"]}`, seed {run["seed"]}.

## Use
```python
from sentence_transformers import SentenceTransformer
model = SentenceTransformer("model")
vectors = model.encode(["{_example(own)}"])
```
{_transformers(own, settings)}Text: `{own["text_template"]}`{_separator(own)}; {own["pooling"]}
pooling, unit length, {_limit(own)}.

## What it was made from
{_tables(run)}
{_sources(run)}
{_licences(run)}
{_parents(run)}

## How it was made
`{run["command"]}`, {run["wall_seconds"]:,.0f} s of wall time, deterministic on CPU:
{"yes" if run["deterministic"] else "no"}. Every setting stands in `config.yaml` of the run, with
the hashes of all it read and wrote in `run.json`. Those of this stage:

{_settings(settings)}

## Scores
{UNSCORED.format(name=name)}
{_held_out(run)}
## Limits
- Pre-training text is filtered by a language model of today, and CPC classes, disambiguated
  names, DOI links, merges and withdrawals are of the snapshot, not of {year}.
- Patent text is dated by filing, so it may have been public only some 18 months later.
- Text is of the snapshot: a later revision of a record stands under its first year.
- Cosines rank documents within one model; they are not comparable between vintages.
- On a small lake the model is small and little trained; scores are in `pyeval report`.

## Licence and citation
The code is Apache-2.0; texts keep the terms of their publishers (`lake sources` lists them).
Cite the software by `CITATION.cff`, and the model with its cutoff and fingerprint:

```bibtex
@misc{{{name},
  title = {{{name}: an encoder that knows nothing after {year}}},
  note = {{Cutoff {year}, preset {run["preset"]}, seed {run["seed"]}; fingerprint in run.json}}
}}
```
"""


def _front_matter(own: dict[str, Any]) -> str:
    library = "sentence-transformers"
    tags = "".join(f"- {t}\n" for t in ("patents", "scientific-papers", f"cutoff-{own['cutoff']}"))
    return (
        f"---\nlicense: other\nlanguage: en\nlibrary_name: {library}\n"
        f"pipeline_tag: sentence-similarity\ntags:\n{tags}---"
    )


def _what(run: dict[str, Any]) -> str:
    kind = _WHERE.get(run["stage"], "an encoder")
    return f"This is {kind}, for papers and patents"


def _example(own: dict[str, Any]) -> str:
    parts = {"title": "A title", "abstract": "An abstract.", "sep": "[SEP]"}
    return own["text_template"].format(**parts)


def _transformers(own: dict[str, Any], settings: dict[str, Any]) -> str:
    """The same vectors without sentence-transformers, where no layer comes after the pooling."""
    if own.get("kind") != "transformer" or settings.get("mlm.whiten_on"):
        return ""
    return f"""The same without sentence-transformers:
```python
import torch
from transformers import AutoModel, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("model")
words = tokenizer(["{_example(own)}"], padding=True, truncation=True, return_tensors="pt")
with torch.inference_mode():
    hidden = AutoModel.from_pretrained("model")(**words).last_hidden_state
mask = words["attention_mask"].unsqueeze(-1)
mean = (hidden * mask).sum(1) / mask.sum(1)
vectors = torch.nn.functional.normalize(mean, dim=1).numpy()
```
"""


def _separator(own: dict[str, Any]) -> str:
    return ", where sep is `[SEP]`" if "{sep}" in own["text_template"] else ""


def _limit(own: dict[str, Any]) -> str:
    return f"{own['max_length']} tokens" if own["max_length"] else "no limit of length"


def _tables(run: dict[str, Any]) -> str:
    rows = ["| table | rows | latest known_year | sha256 |", "|---|---|---|---|"]
    for read in run["tables_read"]:
        latest = read["latest_known_year"] or f"as of {read['cutoff']}"
        short = read["fingerprint"][:12]
        rows.append(f"| {read['name']} | {read['rows']:,} | {latest} | `{short}` |")
    return "\n".join(rows) if len(rows) > 2 else "No table was read in this stage; see its parents."


def _sources(run: dict[str, Any]) -> str:
    sources = run["notes"].get("sources")
    if not sources:
        return ""
    rows = ["", "| source | tokens there are | share of training | passes |", "|---|---|---|---|"]
    for name, one in sources.items():
        share = f"{100 * one['share_given']:.1f}%"
        rows.append(f"| {name} | {one['tokens']:,} | {share} | {one['passes']:.2f} |")
    moved = run["notes"].get("moved_shares")
    return "\n".join(rows) + (f"\n\n{moved[0].upper()}{moved[1:]}." if moved else "")


def _licences(run: dict[str, Any]) -> str:
    from warehouse.sources import raw_tables

    found = {}
    for name in run["notes"].get("sources") or ():
        named = [one for one in raw_tables() if one.key.startswith(_RAW[name])]
        found[name] = "; ".join(sorted({one.licence for one in named}))
    return "".join(f"\n- {name}: {licence}" for name, licence in found.items())


def _settings(settings: dict[str, Any]) -> str:
    rows = ["| setting | value |", "|---|---|"]
    return "\n".join(rows + [f"| `{key}` | {value} |" for key, value in settings.items()])


def _held_out(run: dict[str, Any]) -> str:
    found = run["notes"].get("held_out")
    if not found:
        return ""
    rows = [
        "\n## Held-out loss\nOn documents that training never read, 15% of the tokens hidden:\n",
        "| source | year | documents | loss | pseudo-perplexity |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        year = one["year"] or "all"
        rows.append(
            f"| {one['source']} | {year} | {one['documents']:,} | {one['loss']:.4f} | "
            f"{one['pseudo_perplexity']:.2f} |"
        )
    return "\n".join(rows) + "\n"


def _parents(run: dict[str, Any]) -> str:
    if not run["parents"]:
        return ""
    lines = [f"- `{one['name']}` (`{one['fingerprint'][:12]}`)" for one in run["parents"]]
    return "\nBuilt on the runs:\n" + "\n".join(lines)
