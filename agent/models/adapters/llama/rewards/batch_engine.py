"""Batch engine for rewards: many prompts on one llama.cpp context.

What is shared is done once. Prompts that share a beginning share its cells (a prefix tree over
token ids); samples of one prompt share cells until they part, and cost one token a step while
they agree; a sample that has ended leaves the batch, and one that waited takes its place.

Invariants, on which ``docs/engine.md`` says more:

1. Every ``llama_decode`` gets one of a few numbers of tokens, padded where need be. llama.cpp
   has kernels for small and for larger batches that sum in different orders, which was seen to
   move a log-probability by up to 0.4; of the sizes used here the engine has made sure, on this
   very model and machine, that they agree to the last bit.
2. The cells of a sequence lie in the order of its positions, because attention sums in the order
   of cells. So nothing is freed within a window but padding, which lies last.
3. Sequence 0 is the first path of a window. Its first ``len(self._trunk)`` tokens lie in the
   first cells and stay there for the next window.

With 1 and 2 a result depends on its prompt, settings and seed alone, to the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import llama_cpp as ll
import numpy as np
from numpy.typing import NDArray

from agent.errors import ModelError, PromptTooLong
from agent.models.adapters.llama.decoding import decode
from agent.models.adapters.llama.gguf import Weights
from agent.models.adapters.llama.prefix_tree import Node, Path, common, reading_order, windows
from agent.models.adapters.llama.rewards.decode_tasks import (
    Drawing,
    Found,
    Growth,
    Sample,
    Scoring,
    Stem,
    Task,
)
from agent.models.adapters.llama.rewards.logits import Row, RowReader
from agent.models.weight_files import KnownSizes

SIZES = (8, 24, 40, 64, 96, 128)
"""Numbers of tokens a ``llama_decode`` may get, if they agree; see invariant 1."""
MOST = SIZES[-1]
KEYS, VALUES = 30, ll.GGML_TYPE_F16
"""Types of the cache: bfloat16, which llama_cpp has no name for, and half floats. Keys and values
of one type would be attended to in tiles of the cache from 64 tokens on, and a sum then depends on
where in it a sequence lies."""
WINDOW = 1536
"""Cells that are filled before the cache is emptied. Attention looks at every cell in use, also at
those of other prompts; smaller windows are drained more often. See docs/engine.md."""
SEQUENCES = 256
"""llama.cpp's own limit."""
_PADDING = SEQUENCES - 1  # the sequence of tokens that only fill a batch up
_PATHS = SEQUENCES - 2

_agreeing: dict[tuple[str, int, bool], tuple[int, ...]] = {}
"""By file, threads and flash attention, for this process."""


class Engine:
    """Reads and samples in batches. Not safe for two threads at once: the owner holds a lock.

    ``cells`` tokens fit the cache together; a prompt with its continuation is limited by that and
    by the context the model was trained with. No more than ``batch`` are decoded at once. ``known``
    remembers which sizes agree, so that this is not tried again at every start. ``flash`` is for
    flash attention.

    :raises ModelError: if there is no memory for the context, or the model cannot share cells.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        cells: int,
        threads: int,
        batch: int = MOST,
        known: KnownSizes | None = None,
        flash: bool = True,
    ) -> None:
        if ll.llama_model_is_recurrent(weights.model) or ll.llama_model_is_hybrid(weights.model):
            raise ModelError(
                f"{weights.path.name} is a recurrent model: its prompts cannot share a prefix, so "
                "it cannot compute rewards. Choose a transformer as reward_llm."
            )
        self.weights = weights
        params = ll.llama_context_default_params()
        params.n_ctx = cells
        params.n_batch = params.n_seq_max = SEQUENCES  # llama.cpp wants room for a row each
        params.n_ubatch = MOST
        params.kv_unified = True
        params.flash_attn_type = (
            ll.LLAMA_FLASH_ATTN_TYPE_ENABLED if flash else ll.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        params.type_k, params.type_v = KEYS, VALUES
        params.n_threads = params.n_threads_batch = threads
        self._context = weights.context(params)
        self._memory = ll.llama_get_memory(self._context)
        self._batch = ll.llama_batch_init(MOST, 0, SEQUENCES)
        self._cells = int(ll.llama_n_ctx(self._context)) - MOST - 1
        self._readers = [RowReader(weights.vocabulary_size) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads, "memlane-rows")
        self._trunk: tuple[int, ...] = ()
        self.window = WINDOW
        self.decoded = 0
        """Tokens decoded since the start, padding included; for benchmarks."""
        self.sizes: tuple[int, ...] = (MOST,)
        here = (str(weights.path.resolve()), threads, flash)
        if here not in _agreeing:
            found = known.recall() if known else ()
            if found[-1:] != (MOST,) or found != tuple(size for size in SIZES if size in found):
                found = self._agreeing_sizes()
                if known:
                    known.remember(found)
            _agreeing[here] = found
        self.sizes = tuple(n for n in _agreeing[here] if n <= batch) or _agreeing[here][:1]

    @property
    def limit(self) -> int:
        """The most tokens that a prompt and its continuation may have together."""
        return min(self._cells, self.weights.trained_context)

    def close(self) -> None:
        """Free the context. Closing twice is fine."""
        if self._context:
            self._pool.shutdown()
            ll.llama_batch_free(self._batch)
            ll.llama_free(self._context)
        self._context = None

    def score(
        self, prompts: Sequence[Sequence[int]], continuations: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float32]]:
        """Log-probability of each token of each continuation behind its prompt.

        :raises PromptTooLong: if one pair exceeds the context.
        """
        pairs = [(tuple(p), tuple(c)) for p, c in zip(prompts, continuations, strict=True)]
        for prompt, continuation in pairs:
            self._check_length(len(prompt), len(continuation))
            self._check_tokens(prompt + continuation)
        # The last token is never read: nothing is asked of what follows it.
        order = sorted(set(pairs), key=lambda pair: pair[0] + pair[1][:-1])
        paths = [Path(p + c[:-1], len(p) - 1) for p, c in order]
        scores: list[NDArray[np.float32]] = []
        for window in self._windows(paths, room=0, most=_PATHS):
            task = Scoring(order[window.start : window.stop])
            self._run(paths[window.start : window.stop], task)
            scores += task.scores
        found = dict(zip(order, scores, strict=True))
        return [found[pair].copy() for pair in pairs]

    def sample(
        self, prompts: Sequence[Sequence[int]], numbers: Sequence[int], drawing: Drawing
    ) -> list[list[Sample]]:
        """Samples ``numbers`` of each prompt.

        :raises PromptTooLong: if a prompt and ``max_tokens`` exceed the context.
        """
        for prompt in prompts:
            self._check_length(len(prompt), drawing.max_tokens)
            self._check_tokens(prompt)
        paths = [Path(p, len(p) - 1) for p in sorted({tuple(prompt) for prompt in prompts})]
        found: dict[tuple[int, ...], list[Sample]] = {path.tokens: [] for path in paths}
        longest = max((len(path.tokens) for path in paths), default=0)
        room = max(1, drawing.max_tokens - 1)
        at_once = max(1, min((self._cells - longest) // room, _PATHS, len(numbers)))
        for first in range(0, len(numbers), at_once):
            chosen = numbers[first : first + at_once]
            most = max(1, _PATHS // len(chosen))
            for window in self._windows(paths, room=room * len(chosen), most=most):
                part = paths[window.start : window.stop]
                free = deque(range(len(part), _PADDING))
                fork = partial(self._fork, free)
                task = Growth(len(part), chosen, drawing, self.weights.ends, fork)
                self._run(part, task)
                for path, samples in zip(part, task.samples(), strict=True):
                    found[path.tokens] += samples
        return [list(found[tuple(prompt)]) for prompt in prompts]

    def _check_length(self, prompt: int, continuation: int) -> None:
        if not prompt:
            raise ValueError("the prompt is empty")
        if not continuation:
            raise ValueError("the continuation is empty: there is nothing to score")
        if prompt + continuation > self.limit:
            raise PromptTooLong(
                f"The prompt has {prompt} tokens and its continuation {continuation}, but "
                f"{self.weights.path.name} holds {self.limit} here. Shorten the text."
            )

    def _check_tokens(self, tokens: Sequence[int]) -> None:
        size = self.weights.vocabulary_size
        if strange := [token for token in tokens if not 0 <= token < size]:
            raise ValueError(f"token {strange[0]} is not in the vocabulary of {size}")

    def _windows(self, paths: Sequence[Path], *, room: int, most: int) -> list[range]:
        cells = min(self._cells, self.window)
        return list(windows(paths, cells=cells, most=most, room=room))

    # ---- one window -----------------------------------------------------------------------

    def _run(self, paths: Sequence[Path], task: Task[Found]) -> None:
        """Read the tree over ``paths`` and decode what ``task`` asks for until both are done."""
        pending = task.pending
        try:
            nodes = reading_order(paths, self._keep_trunk(paths))
            while True:
                # Reading comes first: samples that start together end together, in full batches.
                reading = list(islice(nodes, self.sizes[-1]))
                room = self.sizes[-1] - len(reading)
                stems = [pending.popleft() for _ in range(min(len(pending), room))]
                if not stems and not reading:
                    return
                self._decode(stems, reading)
                for stem in stems:
                    stem.length += 1
                asking: list[tuple[int, Node | Stem]] = [*enumerate(stems)]
                asking += [(i, node) for i, node in enumerate(reading, len(stems)) if node.wanting]
                for (_, one), seen in zip(asking, self._look(task, asking), strict=True):
                    task.take(one, seen)
        except BaseException:
            ll.llama_memory_clear(self._memory, True)
            self._trunk = ()
            raise

    def _look(self, task: Task[Found], asking: Sequence[tuple[int, Node | Stem]]) -> list[Found]:
        """What ``task`` sees in the rows, which are shared out among the threads."""
        rows = [(one, self._row(place)) for place, one in asking]
        each = max(1, -(-len(rows) // len(self._readers)))

        def part(reader: RowReader, start: int) -> list[Found]:
            return [task.look(reader, one, row) for one, row in rows[start : start + each]]

        starts = range(0, len(rows), each)
        readers = self._readers[: len(starts)]
        return [seen for found in self._pool.map(part, readers, starts) for seen in found]

    def _fork(self, free: deque[int], source: int, length: int) -> int:
        sequence = free.popleft()
        ll.llama_memory_seq_cp(self._memory, source, sequence, 0, length)
        return sequence

    def _keep_trunk(self, paths: Sequence[Path]) -> int:
        """Empty the cache but for what the first path shares with the one read there before."""
        held = common(self._trunk, paths[0].tokens)
        for path in paths:
            # Logits are wanted of tokens that must then be read again.
            if common(path.tokens, paths[0].tokens[:held]) > path.wanted:
                held = min(held, path.wanted)
        ll.llama_memory_seq_keep(self._memory, 0)
        ll.llama_memory_seq_rm(self._memory, 0, held, -1)
        for index, path in enumerate(paths[1:], 1):
            if shared := common(path.tokens, paths[0].tokens[:held]):
                ll.llama_memory_seq_cp(self._memory, 0, index, 0, shared)
        self._trunk = paths[0].tokens
        return held

    def _decode(self, stems: Sequence[Stem], reading: Sequence[Node]) -> None:
        batch = self._batch
        place = 0
        for stem in stems:
            batch.token[place] = stem.token
            batch.pos[place] = stem.length
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = stem.sequence
            batch.logits[place] = True
            place += 1
        for node in reading:
            batch.token[place] = node.token
            batch.pos[place] = node.position
            batch.n_seq_id[place] = len(node.paths)
            sequences = batch.seq_id[place]
            for index, path in enumerate(node.paths):
                sequences[index] = path
            batch.logits[place] = bool(node.wanting)
            place += 1
        padding = next(size for size in self.sizes if size >= place) - place
        for position in range(padding):
            batch.token[place] = 0
            batch.pos[place] = position
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = _PADDING
            batch.logits[place] = False
            place += 1
        batch.n_tokens = place
        # The last layer and the vocabulary are computed for the rows that are asked for only, so
        # their number must be one of the sizes too. Later rows first: they are padding, if any.
        asked = sum(bool(batch.logits[i]) for i in range(place))
        extra = next(size for size in (0, *self.sizes) if size >= asked) - asked
        for i in range(place - 1, -1, -1):
            if extra and not batch.logits[i]:
                batch.logits[i] = True
                extra -= 1
        code = decode(self._context, batch)
        if code != 0:
            raise ModelError(f"llama.cpp could not decode a batch (code {code}). Try again.")
        self.decoded += place
        if padding > 0:
            ll.llama_memory_seq_rm(self._memory, _PADDING, -1, -1)

    def _agreeing_sizes(self) -> tuple[int, ...]:
        """Which of SIZES give the same logits, to the last bit, as the largest does."""
        size = self.weights.vocabulary_size
        tokens = np.random.default_rng(0).integers(0, size, MOST)
        nodes = [Node(int(token), i, (0,), (0,)) for i, token in enumerate(tokens)]
        self.sizes = SIZES
        self._decode([], nodes)
        expected = np.stack([self._row(place) for place in range(MOST)])
        agreeing = [n for n in SIZES[:-1] if self._agrees(n, nodes, expected)]
        ll.llama_memory_clear(self._memory, True)
        self.decoded = 0
        return (*agreeing, MOST)

    def _agrees(self, size: int, nodes: Sequence[Node], expected: NDArray[np.float32]) -> bool:
        """Whether as many whole batches of ``size`` as there are give what one large batch gave."""
        ll.llama_memory_clear(self._memory, True)
        for start in range(0, len(nodes) - size + 1, size):
            self._decode([], nodes[start : start + size])
            if not all(np.array_equal(self._row(i), expected[start + i]) for i in range(size)):
                return False
        return True

    def _row(self, place: int) -> Row:
        """The logits of one token of the last batch; valid until the next."""
        pointer: Any = ll.llama_get_logits_ith(self._context, place)
        if not pointer:
            raise ModelError("llama.cpp gave no logits. Try again.")
        return np.ctypeslib.as_array(pointer, shape=(self.weights.vocabulary_size,))
