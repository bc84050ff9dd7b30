"""What a vintage reads of its slice: the paper's Tables 6 and 7 for one's own lake."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytrain.corpus import Corpus
from pytrain.token_cache import open_cache
from pytrain.tokenizer import tokenizer_run
from warehouse.sources import runs_root
from warehouse.tables import Lake

if TYPE_CHECKING:
    from pytrain.config import Settings


def vintage_corpus(settings: "Settings", year: int, seed: int) -> Corpus:
    """The corpus that `pytrain pretrain` would read; its tokens are cached where they are not.

    Raises:
        UserError: no tokenizer of the cutoff, or no text.
    """
    chosen = settings.mlm
    with Lake() as lake:
        cache = open_cache(
            lake,
            year,
            tokenizer_run(settings, year, seed),
            runs_root() / ".cache",
            basis=chosen.basis,
            licence_at_most=chosen.licence_at_most,
            first_characters=chosen.first_characters,
        )
    return Corpus(cache, chosen, seed)


def consumption_lines(corpus: Corpus, year: int) -> Iterator[str]:
    """Budget, steps and phases (Table 6), then tokens, consumption and passes (Table 7).

    Tokens and consumption are in tokens with special ones; consumption is what the draws of all
    steps take, which differs from share times budget by less than a piece per step and source.
    """
    chosen, steps = corpus.settings, corpus.steps
    ends = [steps * sum(chosen.phases[:i]) / sum(chosen.phases) for i in range(4)]
    phases = "\t".join(str(round(b) - round(a)) for a, b in zip(ends, ends[1:], strict=False))
    yield "cutoff\tbudget\ttokens a step\tsteps\twarm-up\tstable\tdecay"
    yield f"{year}\t{corpus.budget}\t{chosen.batch_tokens}\t{steps}\t{phases}"
    yield ""
    yield "source\ttokens\tshare asked\tshare given\tconsumption\tpasses"
    for name, found in corpus.summary().items():
        read = round(found["passes"] * found["tokens"])
        shares = f"{found['share_asked']:.4f}\t{found['share_given']:.4f}"
        yield f"{name}\t{found['tokens']}\t{shares}\t{read}\t{found['passes']:.4f}"
