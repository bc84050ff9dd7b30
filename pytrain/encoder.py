"""Titles and abstracts to unit vectors, with any encoder: ours, Hugging Face's, static tables."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from pytrain.batching import by_token_budget, pad, pool
from pytrain.device import autocast, derived_seed, pick_device, pick_dtype
from pytrain.layout import Layout, read_json, read_layout, sha256_of
from pytrain.quiet import quiet_transformers
from warehouse.allocator import keep_freed_memory
from warehouse.errors import UserError

_WINDOW = 65_536  # documents tokenised and sorted at a time, so that memory stays bounded
_ACTIVATIONS = {"Identity": nn.Identity, "Tanh": nn.Tanh, "ReLU": nn.ReLU, "GELU": nn.GELU}


class Encoder:
    """A model folder, ready to embed.

    Attributes:
        name: of the run, or of the folder.
        dim: length of a vector.
        cutoff: the last year the model has seen, or None where nobody says.
        fingerprint: sha256 of weights, tokenizer, template and pooling.
        template: how title and abstract become one text.
    """

    def __init__(
        self,
        layout: Layout,
        tokenizer: Tokenizer,
        model: nn.Module,
        dense: nn.Module,
        **more: object,
    ) -> None:
        """Use `Encoder.load`."""
        self.layout, self.tokenizer, self.model, self.dense = layout, tokenizer, model, dense
        self.name, self.cutoff, self.template = layout.name, layout.cutoff, layout.template
        self.fingerprint: str = str(more["fingerprint"])
        self.device: torch.device = more["device"]  # type: ignore[assignment]
        self.dtype: torch.dtype = more["dtype"]  # type: ignore[assignment]
        self._sep = _special(layout.folder, "sep_token") or " "
        self._pad = tokenizer.token_to_id(_special(layout.folder, "pad_token") or "[PAD]") or 0
        self.dim = self._pooled([np.array([self._pad])]).shape[1]

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        random_weights: bool = False,
        seed: int = 0,
        max_length: int | None = None,
        pooling: str | None = None,
        dtype: str = "auto",
        device: str = "auto",
    ) -> "Encoder":
        """Open a model folder of ours, a run, a static vintage, or a foreign folder.

        Args:
            folder: Hugging Face folders are mean-pooled; sentence-transformers folders keep
                their own pooling and linear layers.
            random_weights: the same shape and tokenizer, weights drawn anew: the baseline that
                knows nothing.
            seed: of the random weights.
            max_length: tokens read of each document; None: what the folder says.
            pooling: over the tokens, instead of the folder's own, whose linear layers are then
                left out: they were fitted to it.
            dtype: "fp32", "bf16", or "auto": bf16 where the processor has it.
            device: "cpu", "cuda" or "auto".

        Raises:
            UserError: no model there, or a tokenizer of another vintage.
        """
        keep_freed_memory()
        layout = read_layout(folder)
        if pooling is not None and layout.pooling != (pooling,):
            layout = replace(layout, pooling=(pooling,), dense=())
        tokenizer = _tokenizer(layout.folder)
        tokenizer.no_padding()
        length = max_length or layout.max_length
        if length:
            tokenizer.enable_truncation(length)
        else:
            tokenizer.no_truncation()
        where = pick_device(device)
        make = _static if layout.kind == "static" else _transformer
        model = make(layout, seed if random_weights else None)
        dense = _dense(layout) if not random_weights else nn.Identity()
        files = sorted({*layout.folder.glob("*.safetensors"), layout.folder / "tokenizer.json"})
        files += [path / "model.safetensors" for path in layout.dense]
        parts = [sha256_of(path) for path in files if path.is_file()]
        parts += [layout.template, layout.prompt, *layout.pooling, str(length)]
        parts += [f"random:{seed}"] if random_weights else []
        return cls(
            layout,
            tokenizer,
            model.eval().to(where),
            dense.eval().to(where),
            fingerprint=hashlib.sha256("\n".join(parts).encode()).hexdigest(),
            device=where,
            dtype=pick_dtype(dtype, where),
        )

    def texts(self, titles: Sequence[str], abstracts: Sequence[str]) -> list[str]:
        """One text per document, as the model reads it."""
        made = [
            self.layout.prompt + self.template.format(title=title, sep=self._sep, abstract=abstract)
            for title, abstract in zip(titles, abstracts, strict=True)
        ]
        return [text.lower() for text in made] if self.layout.lowercase else made

    def embed(
        self,
        titles: Sequence[str],
        abstracts: Sequence[str],
        *,
        token_budget: int = 16_384,
        progress: Callable[[int], None] | None = None,
        normalise: bool = True,
    ) -> np.ndarray:
        """Unit vectors of documents, in their order.

        Args:
            titles: (N,) texts.
            abstracts: (N,) texts.
            token_budget: tokens per forward pass, padding included; bounds the memory.
            progress: told the number of documents done since it was last told.
            normalise: to unit length; off to fit a whitening on the pooled vectors.

        Returns:
            (N, D) float32.
        """
        out = np.zeros((len(titles), self.dim), np.float32)
        for start in range(0, len(titles), _WINDOW):
            window = slice(start, start + _WINDOW)
            rows = self._ids(self.texts(titles[window], abstracts[window]))
            for group in by_token_budget([len(row) for row in rows], token_budget):
                vectors = self._pooled([rows[i] for i in group])
                if normalise:
                    vectors = F.normalize(vectors, dim=1)
                out[start + group] = vectors.cpu().numpy()
                if progress is not None:
                    progress(len(group))
        return out

    def _ids(self, texts: Sequence[str]) -> list[np.ndarray]:
        special = self.layout.kind == "transformer"
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=special)
        return [np.array(one.ids, np.int64) for one in encoded]

    @torch.inference_mode()
    def _pooled(self, rows: list[np.ndarray]) -> Tensor:
        """Vectors of documents given as token ids, (B, D) float32, before the last scaling."""
        if self.layout.kind == "static":
            ends = np.cumsum([0, *map(len, rows)])
            flat = torch.from_numpy(np.concatenate(rows)).to(self.device)
            offsets = torch.from_numpy(ends[:-1]).to(self.device)
            pooled = F.embedding_bag(flat, self.model.weight, offsets, mode="mean")
        else:
            batch = {name: value.to(self.device) for name, value in pad(rows, self._pad).items()}
            with autocast(self.device, self.dtype):
                hidden = self.model(**batch).last_hidden_state
            pooled = pool(hidden, batch["attention_mask"], self.layout.pooling)
        if self.layout.normalise_first:
            pooled = F.normalize(pooled, dim=1)
        return self.dense(pooled)


def _special(folder: Path, name: str) -> str | None:
    """The text of a special token, from the tokenizer's configuration."""
    for file in ("tokenizer_config.json", "special_tokens_map.json"):
        token = read_json(folder / file).get(name)
        if token:
            return token["content"] if isinstance(token, dict) else token
    return None


def _tokenizer(folder: Path) -> Tokenizer:
    if (folder / "tokenizer.json").is_file():
        return Tokenizer.from_file(str(folder / "tokenizer.json"))
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder).backend_tokenizer


def _static(layout: Layout, seed: int | None) -> nn.Module:
    table = load_file(layout.folder / "model.safetensors")["embedding.weight"].float()
    if seed is not None:
        draw = torch.Generator().manual_seed(derived_seed(seed, "random-weights"))
        table = torch.randn(table.shape, generator=draw) * table.std()
    return nn.Embedding.from_pretrained(table)


def _transformer(layout: Layout, seed: int | None) -> nn.Module:
    from transformers import AutoConfig, AutoModel

    with quiet_transformers():
        if seed is None:
            try:
                return AutoModel.from_pretrained(
                    layout.folder, dtype=torch.float32, use_safetensors=True
                )
            except OSError as error:
                raise UserError(
                    f"{layout.folder} has no weights we can open ({error}). Pickled weights are "
                    "never read; save the model as safetensors."
                ) from error
        with torch.random.fork_rng():
            torch.manual_seed(derived_seed(seed, "random-weights"))
            config = AutoConfig.from_pretrained(layout.folder)
            return AutoModel.from_config(config, dtype=torch.float32)


def _dense(layout: Layout) -> nn.Module:
    """The linear layers after the pooling, as sentence-transformers keeps them."""
    layers: list[nn.Module] = []
    for folder in layout.dense:
        config, weights = read_json(folder / "config.json"), load_file(folder / "model.safetensors")
        activation = config.get("activation_function", "torch.nn.Tanh").rsplit(".", 1)[-1]
        if activation not in _ACTIVATIONS:
            raise UserError(f"{folder} has an activation we do not run: {activation}.")
        linear = nn.Linear(config["in_features"], config["out_features"], "linear.bias" in weights)
        linear.load_state_dict({key[7:]: value.float() for key, value in weights.items()})
        layers += [linear, _ACTIVATIONS[activation]()]
    return nn.Sequential(*layers)
