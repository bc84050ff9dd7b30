"""What the command line prints of a vintage: its terms by year, and the arithmetic of its plan."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytrain.config import Settings
from warehouse.errors import CheckFailed, UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def read_terms(path: Path) -> dict[str, int]:
    """Term -> year of coining, from the marker of a sample or {"terms": [{term, year}]}.

    Raises:
        UserError: the file holds no such list.
    """
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["terms"]
        return {one["term"]: int(one["year"]) for one in listed}
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} holds no list of terms with their years ({error!r}). "
            "The generated sample has one: warehouse/lake/sample/sample.json"
        ) from error


def term_lines(tokenizer: "Tokenizer", path: Path, cutoff: int) -> Iterator[str]:
    """One line per year of coining: year, coined, those that are one token, and a verdict.

    Raises:
        CheckFailed: a term of a later year is a token, so later text was read.
    """
    from pytrain.tokenizer import known_terms

    yield "year\tcoined\tone token"
    late = []
    for year, (found, coined) in known_terms(tokenizer, read_terms(path)).items():
        yield f"{year}\t{coined}\t{len(found)}" + ("\tafter the cutoff" if year > cutoff else "")
        late += found if year > cutoff else []
    if late:
        raise CheckFailed(f"the tokenizer of {cutoff} holds terms coined later: {', '.join(late)}.")


def parameters_of(settings: Settings) -> int:
    """Parameters of the masked-language model, without making it."""
    import torch

    from pytrain.mlm import count_parameters, model_config

    with torch.device("meta"):
        from transformers import ModernBertForMaskedLM

        return count_parameters(ModernBertForMaskedLM(model_config(settings)))


def plan_lines(settings: Settings) -> Iterator[str]:
    """Parameters, steps and their phases; tokens where the budget is a number."""
    parameters, chosen = parameters_of(settings), settings.mlm
    yield f"mlm\t{parameters:,} parameters\t{chosen.batch_tokens:,} tokens a step"
    if chosen.tokens is None:
        yield f"mlm\tsteps follow from the slice: {chosen.passes:g} passes of its scarcest source"
    else:
        steps = max(1, round(chosen.tokens / chosen.batch_tokens))
        parts = [round(steps * part / sum(chosen.phases)) for part in chosen.phases]
        named = ", ".join(f"{n:,} {w}" for n, w in zip(parts, ("up", "flat", "down"), strict=True))
        yield f"mlm\t{steps:,} steps\t{named}"
    for name in ("tune", "seeded"):
        one = getattr(settings, name)
        yield f"{name}\t{one.steps:,} steps of {one.batch:,} examples\t{one.max_length} tokens each"
