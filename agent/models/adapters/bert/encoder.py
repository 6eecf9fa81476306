"""BERT encoders (Devlin et al., 2019) on onnxruntime, without PyTorch.

Most sentence-transformers folders hold such an encoder, the shipped all-MiniLM-L6-v2 among them.
Importing PyTorch and sentence-transformers takes seconds, this a fifth of one, and a sentence less
than half the time. ``tests/models/test_embeddings.py`` holds both against each other.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agent.models.adapters.bert.int8_linear import int8_linear
from agent.models.adapters.bert.onnx_graph import Graph
from agent.models.adapters.bert.safetensors_file import mapped_weights
from agent.ports import Vectors

LEAST_TOKENS, TOKENS = 64, 256
"""Fewest and most tokens of a full batch, padding included. What a run of more needs does not fit
into a processor's cache: twice as many tokens took longer than two runs."""
AHEAD = 4
"""Batches of each thread that are read before the first of them is used: bounds the memory."""
_WORDS = "embeddings.word_embeddings.weight"
_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attended norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
"""Names of a layer's parts in the weights."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """Hidden states of a batch: which texts, (batch, tokens, width), and 1 where a token is."""

    rows: NDArray[np.intp]
    states: Vectors
    mask: Vectors
    read: tuple[Any, ...]
    """What the tokenizer made of each text."""

    @property
    def places(self) -> list[list[tuple[int, int]]]:
        """Where each token of each text stands in it; the marks around a text have no length."""
        return [list(text.offsets) for text in self.read]

    def mean(self) -> Vectors:
        """Mean over the tokens of each text, (batch, width)."""
        counts = self.mask.sum(axis=1, keepdims=True)
        total: Vectors = np.matmul(self.mask[:, None, :], self.states)[:, 0]
        mean: Vectors = total / counts
        return mean

    def first(self) -> Vectors:
        """State of the first token of each text, (batch, width)."""
        return self.states[:, 0]


class Bert:
    """An encoder from a folder, or with weights of its own. Several threads may use it.

    :param folder: Holds config.json, tokenizer.json and model.safetensors.
    :param threads: Batches that run at the same time, each on a thread; 0 is one a processor.
    :param changed: Weights that replace those of the folder, by name.
    :param int8: Whether the layers multiply integers: in half the time, and not exact.
    """

    words: Vectors
    """Embeddings of the vocabulary, (words, width), over the mapped file."""

    def __init__(
        self,
        folder: Path,
        *,
        threads: int,
        changed: Mapping[str, Vectors] | None = None,
        int8: bool = False,
    ) -> None:
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text("utf-8"))
        self.width = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        weights = mapped_weights(folder / "model.safetensors") | dict(changed or {})
        self.words = weights[_WORDS]
        self._session = _graph(config, weights, int8=int8)
        self._threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="encoder")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._lock = threading.Lock()

    def hidden(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], longest: int
    ) -> Iterator[Hidden]:
        """Hidden states of texts or of pairs of texts, in batches of like length.

        :param longest: Most tokens of a text or pair; what is beyond is cut off.
        """
        given = [
            encodable(text) if isinstance(text, str) else (encodable(text[0]), encodable(text[1]))
            for text in texts
        ]
        with self._lock:
            self._tokenizer.enable_truncation(longest)
            read = self._tokenizer.encode_batch(given)
        lengths = np.array([len(text.ids) for text in read])
        batches = list(_batches(lengths, self._threads))
        if len(batches) == 1:
            yield self._batch(batches[0], read)
            return
        step = AHEAD * self._threads
        for start in range(0, len(batches), step):
            yield from self._side_by_side(batches[start : start + step], read)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Of each text its tokens' rows in ``words``, without the marks around it, uncut."""
        with self._lock:
            self._tokenizer.no_truncation()
            read = self._tokenizer.encode_batch_fast(
                [encodable(text) for text in texts], add_special_tokens=False
            )
        return [text.ids for text in read]

    def _side_by_side(
        self, batches: Sequence[NDArray[np.intp]], read: Sequence[Any]
    ) -> Iterator[Hidden]:
        try:
            running = [self._pool.submit(self._batch, rows, read) for rows in batches]
        except RuntimeError:  # Python is ending and starts no more work: a last job goes on here
            return (self._batch(rows, read) for rows in batches)
        return (batch.result() for batch in running)

    def _batch(self, rows: NDArray[np.intp], read: Sequence[Any]) -> Hidden:
        of = tuple(read[row] for row in rows)
        ids = np.zeros((len(of), len(of[-1].ids)), np.int64)
        types, mask = np.zeros_like(ids), np.zeros(ids.shape, np.float32)
        for at, text in enumerate(of):
            size = len(text.ids)
            ids[at, :size], types[at, :size], mask[at, :size] = text.ids, text.type_ids, 1
        return Hidden(rows, self._run(ids, types, mask), mask, of)

    def _run(self, ids: NDArray[np.int64], types: NDArray[np.int64], mask: Vectors) -> Vectors:
        batch, size = ids.shape
        given = {
            "words": self.words[ids].astype(np.float32, copy=False),
            "types": types,
            "positions": np.arange(size),
            "hidden mask": np.where(mask, np.float32(0), np.float32(-1e9))[:, None, None, :],
            "by head": np.array([batch, size, self._heads, self.width // self._heads]),
        }
        states: Vectors = self._session.run(None, given)[0]
        return states.reshape(batch, size, self.width)


def encodable(text: str) -> str:
    """Lone surrogates (from file names, from cut emoji) are no text to a tokenizer."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _batches(lengths: NDArray[np.int_], threads: int) -> Iterator[NDArray[np.intp]]:
    """Rows by length, in batches that all threads share, padded to their longest, the last."""
    order = np.argsort(lengths, kind="stable")
    most = min(max(int(lengths.sum()) // threads, LEAST_TOKENS), TOKENS)
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or lengths[order[end]] * (end + 1 - start) > most:
            yield order[start:end]
            start = end


def _graph(config: Mapping[str, Any], weights: Mapping[str, Vectors], *, int8: bool) -> Any:
    """The encoder as a session: token ids to hidden states, (batch * tokens, width)."""
    graph, width = Graph(), int(config["hidden_size"])
    epsilon = float(config["layer_norm_eps"])
    scale = (width / int(config["num_attention_heads"])) ** -0.5
    graph.weight("scale", np.array(scale, np.float32))
    graph.weight("flat", np.array([-1, width]))
    # Words are looked up outside: the session would copy the vocabulary, half of all weights.
    graph.input("words", ("batch", "tokens", width), np.float32)
    graph.input("types", ("batch", "tokens"), np.int64)
    graph.input("positions", ("tokens",), np.int64)
    graph.input("hidden mask", ("batch", 1, 1, "tokens"), np.float32)
    graph.input("by head", (4,), np.int64)

    def floats(name: str) -> Vectors:
        return weights[name].astype(np.float32, copy=False)

    def use(name: str) -> str:
        return graph.weight(name, floats(name))

    def look_up(table: str, indices: str) -> str:
        return graph.add("Gather", use(f"embeddings.{table}_embeddings.weight"), indices)

    def norm(x: str, name: str) -> str:
        sizes = (use(f"{name}.weight"), use(f"{name}.bias"))
        return graph.add("LayerNormalization", x, *sizes, axis=-1, epsilon=epsilon)

    def linear(x: str, name: str) -> str:
        if int8:
            return int8_linear(graph, x, name, floats(f"{name}.weight"), floats(f"{name}.bias"))
        return graph.add("Gemm", x, use(f"{name}.weight"), use(f"{name}.bias"), transB=1)

    def heads(x: str, *order: int) -> str:
        return graph.add("Transpose", graph.add("Reshape", x, "by head"), perm=list(order))

    x = graph.add("Add", "words", look_up("token_type", "types"))
    x = norm(graph.add("Add", x, look_up("position", "positions")), "embeddings.LayerNorm")
    x = graph.add("Reshape", x, "flat")
    for number in range(int(config["num_hidden_layers"])):
        part = {short: f"encoder.layer.{number}.{name}" for short, name in _LAYER.items()}
        query = graph.add("Mul", linear(x, part["query"]), "scale")
        keys = heads(linear(x, part["key"]), 0, 2, 3, 1)
        scores = graph.add("MatMul", heads(query, 0, 2, 1, 3), keys)
        shares = graph.add("Softmax", graph.add("Add", scores, "hidden mask"), axis=-1)
        mixed = graph.add("MatMul", shares, heads(linear(x, part["value"]), 0, 2, 1, 3))
        mixed = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), "flat")
        x = norm(graph.add("Add", x, linear(mixed, part["attended"])), part["attended norm"])
        wide = graph.add("Gelu", linear(x, part["wide"]))
        x = norm(graph.add("Add", x, linear(wide, part["narrow"])), part["norm"])
    return graph.session(x, ("all", width))


Pooling = Literal["mean", "first"]


def sentence_pooling(folder: Path) -> tuple[Pooling, int] | None:
    """How a sentence-transformers folder pools, and its most tokens; None if it is no plain BERT.

    None too where anything stands in the folder that ``Bert`` does not do, as prompts or layers
    behind the pooling.
    """
    try:
        config, modules, pooling, sizes, prompts = (
            json.loads((folder / name).read_text("utf-8"))
            for name in (
                "config.json",
                "modules.json",
                "1_Pooling/config.json",
                "sentence_bert_config.json",
                "config_sentence_transformers.json",
            )
        )
        plain = (
            config["model_type"] == "bert"
            and config["hidden_act"] == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
            and [str(module["type"]).rsplit(".", 1)[-1] for module in modules]
            in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
            and not prompts.get("default_prompt_name")
            and not sizes.get("do_lower_case")
            and (folder / "model.safetensors").is_file()
            and (folder / "tokenizer.json").is_file()
        )
        modes = [name for name, on in pooling.items() if name.startswith("pooling_mode") and on]
        ways: dict[str, Pooling] = {
            "pooling_mode_mean_tokens": "mean",
            "pooling_mode_cls_token": "first",
        }
        if plain and len(modes) == 1 and modes[0] in ways:
            return ways[modes[0]], int(sizes["max_seq_length"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # Whatever it is, sentence-transformers may know it.
    return None
