"""Settings of the graph side: walks, neighbours, text pairs, static vectors, tuning.

As in `pytrain.config`: defaults are the paper's, "our choice" marks what the papers leave out.
"""

from dataclasses import dataclass, field
from typing import Literal

from pytrain.coerce import require


@dataclass(frozen=True, kw_only=True)
class Node2vecSettings:
    """Walks on the undirected graph of the cutoff and skip-gram vectors of its nodes."""

    dimensions: int = 128  # Table 4, proposed: the default of node2vec
    p: float = 1.0  # return; unstated in the paper
    q: float = 1.0  # in-out; unstated in the paper
    walk_length: int = 80  # nodes; unstated, as are the next five: word2vec's and node2vec's
    walks_per_node: int = 10
    window: int = 10  # nodes on either side
    negatives: int = 5  # drawn once per window, by visits to the power 3/4
    epochs: int = 1
    lr: float = 0.025  # falls linearly to min_lr
    min_lr: float = 1e-4
    walker: Literal["own", "csrgraph"] = "own"  # csrgraph takes no seed: marked in run.json
    fast: bool = False  # every thread without locks: quicker, never the same twice
    report_auc: bool = True  # link prediction on held-out edges, by a second training
    auc_max_nodes: int = 100_000  # above it the second training is left out

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(min(self.p, self.q) > 0, "node2vec.p and node2vec.q must be positive.")
        require(self.walk_length >= 2, "node2vec.walk_length must be at least 2.")
        counts = (self.dimensions, self.walks_per_node, self.window, self.epochs)
        require(min(counts) >= 1, "node2vec sizes and counts must be at least 1.")


@dataclass(frozen=True, kw_only=True)
class NeighbourSettings:
    """Exact cosine neighbours of the anchors, and the training examples made of them."""

    positive_ranks: tuple[int, int] = (21, 25)  # first and last, 1-based, self excluded
    hard_ranks: tuple[int, int] = (3_999, 4_000)
    hard_negatives: int = 2  # per anchor; drawn by hash where the ranks give more
    neighbour_scope: Literal["graph", "component"] = "graph"  # component: and same type
    random_negatives: int = 1  # per example, of the anchor's type, from the anchor pool
    # Examples added per anchor whose positive is one of the nearest documents of the other type,
    # for tune.cross_type_share to draw from; their `rank` is among that type. Our choice.
    cross_positives: int = 0
    engine: Literal["auto", "faiss", "torch"] = "auto"  # auto: torch on a GPU; ranks are equal
    processes: int = 1  # the anchors are shared out over; ranks are equal

    def __post_init__(self) -> None:
        """Check the ranks."""
        for name in ("positive_ranks", "hard_ranks"):
            first, last = getattr(self, name)
            require(1 <= first <= last, f"neighbours.{name} needs 1 <= first <= last.")
        require(self.cross_positives >= 0, "neighbours.cross_positives must be at least 0.")
        require(self.processes >= 1, "neighbours.processes must be at least 1.")


@dataclass(frozen=True, kw_only=True)
class PairSettings:
    """Pairs that need no citation, (title, abstract) and (abstract, later text); our choice."""

    description_start: int = 600  # characters into a patent's description; skips "continuation of"
    body_start: int = 1_500  # characters into a paper's body
    characters: int = 1_900  # of later text
    min_characters: int = 200  # shorter later text makes no pair
    max_documents: int | None = None  # drawn by hash of the id; None: all of the slice
    mask_families: bool = True  # same work, title, abstract or later text: never negatives
    mask_neighbours: bool = True  # cited or citing: never negatives of each other


@dataclass(frozen=True, kw_only=True)
class StaticSettings:
    """The depth-0 sibling: contrastive token vectors (all values are our choice)."""

    dimensions: int = 1_024
    normalise_tokens: bool = False  # false: free lengths, learnt weights of the tokens
    epochs: float = 4.0  # passes over the text pairs
    seed_table: bool = True  # also a table of unit tokens, which can seed a ModernBERT
    seed_dimensions: int = 512
    seed_epochs: float = 7.0
    seed_init_std: float = 0.02
    graph_step_share: float = 60 / 220  # of the steps, on graph pairs
    paper_share: float = 0.75  # of the anchors of graph pairs
    batch: int = 1_024  # pairs
    lr: float = 3e-3  # Adam, falls linearly to 0
    # Random vectors weighted by inverse document frequency are TF-IDF by random projection. Long
    # ones keep more of it through training: MAP without near-copies on real records of 2010 was
    # 39.5 from unweighted vectors of 0.02 and 512 dimensions, 43.8 from these.
    init_std: float = 0.1  # of the first vectors
    init_idf: bool = True  # weight them, by the abstracts of the slice; never the unit tokens
    temperature: float = 0.05
    max_length: int = 512  # tokens read of each text
    repeats: int | None = 2  # times a word counts in a text, as in sublinear TF-IDF; None: all
    log_every: int = 20
    pairs: PairSettings = field(default_factory=PairSettings)

    def __post_init__(self) -> None:
        """Check the ranges."""
        require(0 <= self.graph_step_share < 1, "static.graph_step_share must be in [0, 1).")
        require(self.repeats is None or self.repeats >= 1, "static.repeats must be at least 1.")
        require(self.batch >= 2, "static.batch must be at least 2: others are the negatives.")


@dataclass(frozen=True, kw_only=True)
class TuneSettings:
    """Contrastive tuning of an encoder on the neighbour examples."""

    steps: int = 3_000
    batch: int = 64  # examples per step
    micro_batch: int = 16  # examples per forward pass, and per loss
    max_length: int = 512  # tokens
    repeats: int | None = None  # times a word counts in a text; the paper: all
    temperature: float = 0.01
    peak_lr: float = 1e-5
    phases: tuple[float, float, float] = (1, 40, 6)  # assumed equal to pre-training
    decay: Literal["cosine", "linear"] = "cosine"
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-6
    weight_decay: float = 0.01  # of SPECTER and SciJEPA; unstated in the paper
    clip: float = 1.0
    paper_share: float = 0.75  # of the anchors drawn
    hard_negatives: int = 2  # of those of the example, at most
    random_negatives: int = 1
    objective: Literal["info_nce", "triplet"] = "info_nce"  # triplet: SPECTER's, for comparison
    margin: float = 1.0  # of a triplet, between distances of unit vectors
    # Whose documents an anchor is told from beside those of its own micro-batch: as many
    # micro-batches as the paper has GPUs give each other their positives, or all they hold.
    candidates: Literal["none", "positives", "all"] = "positives"
    gather: int = 2  # micro-batches; 1: each for itself
    cross_type_share: float | None = None  # of the graph examples drawn; None: as they come
    graph_share: float = 1.0  # of the micro-batches; the paper has no other kind
    title_share: float = 0.0  # (title, abstract) micro-batches; our choice
    description_share: float = 0.0  # (abstract, later text) micro-batches; our choice
    pairs: PairSettings = field(
        default_factory=lambda: PairSettings(mask_families=False, mask_neighbours=False)
    )  # the paper masks the anchor and its positives only
    save_every: int = 1_000
    log_every: int = 10

    def __post_init__(self) -> None:
        """Check the shares and the batch."""
        require(min(self.micro_batch, self.gather) >= 1, "micro_batch and gather must be >= 1.")
        require(
            self.batch % (self.micro_batch * self.gather) == 0,
            "batch must be a multiple of micro_batch times gather.",
        )
        require(sum(self.phases) > 0, "phases needs one number above 0.")
        share = self.cross_type_share
        require(share is None or 0 <= share <= 0.5, "cross_type_share must be in [0, 0.5].")
        shares = (self.graph_share, self.title_share, self.description_share)
        require(min(shares) >= 0 < sum(shares), "shares of pairs must be >= 0, one above 0.")


@dataclass(frozen=True, kw_only=True)
class SeededSettings(TuneSettings):
    """Tuning of a fresh encoder whose token table is the static vintage (all our choice)."""

    layers: int = 2
    heads: int = 8
    intermediate: int = 768
    output_scale: float = 0.1  # on output projections: at full scale random layers blur the table
    table_std: float = 0.02  # of the token table put in
    steps: int = 40
    batch: int = 96
    micro_batch: int = 96
    gather: int = 1
    max_length: int = 64
    repeats: int | None = 2  # as in the static vintage
    temperature: float = 0.05
    peak_lr: float = 2e-4
    decay: Literal["cosine", "linear"] = "linear"
    hard_negatives: int = 1
    random_negatives: int = 0
    graph_share: float = 0.7
    title_share: float = 0.1
    description_share: float = 0.2
    pairs: PairSettings = field(default_factory=PairSettings)
    save_every: int = 0
