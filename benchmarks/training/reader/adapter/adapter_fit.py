"""Makes what ships of a trained adapter: ``python -m benchmarks.adapter_fit TRAINED``.

``TRAINED`` is the folder that ``adapter_train`` wrote. The adapter becomes a file that llama.cpp
loads, the classifiers become linear ones of plain states, and their scores are calibrated by the
writers that neither learned from. What else is known of a pair is weighed by ``pair_mix``.
Where the statement reader's opinion counts too, the voices that it learned from are left out.

Of an adapter that was trained further without a GPU (``--start`` writes what that begins with) the
prompts are read by llama.cpp, as in the product. All would take an hour: ``LINES_READ`` and
``PAIRS_READ`` of a kind are, and what calibrates pairs stays. With ``--mean-with`` what ships is
the mean of its weights and of those that it began with, which keeps most of what either is good at
(Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").

Measured is each held-out writer by what was calibrated without that writer: of notes the area under
the curve and average precision; *top*: the likeliest note is needed, of the questions for which one
is; *changed*: area of needed notes against those that were changed; *answered*: area of questions
that a note answers against the others; *silent*: the shares of both below ``notes.KNOWN``; of pairs
areas and average precision of the statement reader, of the language model and of both.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from agent.answering.notes.gather import KNOWN
from agent.config import load_config
from agent.models.adapters.llama.gguf import Weights
from agent.models.adapters.llama.reading_adapter import FOLDER, adapter_of
from agent.models.adapters.llama.states import HiddenStates
from agent.models.lazy import LocalLanguageModel
from agent.models.readers.note_reader import WEIGHTS as NOTES
from agent.models.readers.note_reader import scores_of, signs, together
from agent.models.readers.second_reader import WEIGHTS as PAIRS
from agent.models.readers.second_reader import logit, mixed
from agent.models.registry import ModelRegistry
from agent.ports import Vectors
from benchmarks.shared.common import parser, progress, write_results
from benchmarks.training.reader.adapter.adapter_examples import CHANGED, LABELS, OUT
from policies.weight_file import read_arrays

LAYER = 17
"""Of 28, counted from 0: the last that the adapter changes."""
NEEDED = LABELS.index("needed")
HOMES = ("people", "voices", "introductions", "months", "follow_ups")
LINES_READ, PAIRS_READ = 60, 300
"""Prompts of a kind of home that are read without a GPU, of those to measure and to calibrate by;
of pairs only to measure."""
OF_NOTES = ("weight", "around", "bias", "answered", "answered_bias")
"""Classifiers of ``NOTES``."""
BY_PAIR_MIX = ("alone_of_words", "alone", "mix", "encoder")
"""What ``pair_mix`` makes."""


@dataclass(frozen=True, slots=True)
class Read:
    """One prompt of a writer that was not learned from, with the scores of the trained model."""

    writer: str
    home: str
    held: bool
    labels: Vectors
    first: Vectors
    scores: Vectors
    rivals: float
    compared: int
    weight: float


def main() -> None:
    options = parser("adapter_fit", __doc__ or "")
    options.add_argument("trained", type=Path, help="folder that adapter_train wrote")
    options.add_argument("--examples", type=Path, default=OUT, help="those of adapter_examples")
    options.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    options.add_argument("--mean-with", type=Path, help="folder of weights to take the mean with")
    options.add_argument("--start", action="store_true", help="write what ships into TRAINED")
    given = options.parse_args()
    if given.start:
        _start(given.trained)
        return
    folders = [given.trained, given.mean_with] if given.mean_with else [given.trained]
    heads, adapter = (_mean(folders, name) for name in ("heads", "adapter"))
    further = not (given.trained / "scores.npz").exists()
    if further:
        scores = _scores(given.examples, _write_adapter(given.trained, adapter), heads)
    else:
        scores = read_arrays(given.trained / "scores.npz")
    lines = list(_read(given.examples, "lines", scores))
    pairs = list(_read(given.examples, "pairs", scores))
    figures: dict[str, float] = {}
    notes = _of_notes(lines, figures)
    both = _of_pairs(pairs, figures)
    if further:
        both = read_arrays(PAIRS, (*BY_PAIR_MIX, "mix_of_words"))
    for key, value in figures.items():
        progress(f"{key} {value:.3f}")
    if not given.quick:
        _ship(given.out, heads, adapter, notes, both)
    settings = {
        "writers": sorted({one.writer for one in (*lines, *pairs)}),
        "quick": given.quick,
        "mean": given.mean_with is not None,
    }
    write_results("adapter_fit", settings, [0], figures)


def _start(folder: Path) -> None:
    """Write what ships as ``adapter_train`` writes what it has trained."""
    shipped = adapter_of(LocalLanguageModel(load_config()).identity)
    if shipped is None:
        raise SystemExit("No adapter ships for the model that is configured.")
    folder.mkdir(parents=True, exist_ok=True)
    tensors = GGUFReader(shipped).tensors
    adapter: dict[str, Any] = {t.name.replace(".lora_", "."): np.array(t.data) for t in tensors}
    np.savez(folder / "adapter.npz", **adapter)
    notes, pairs = read_arrays(NOTES, OF_NOTES), read_arrays(PAIRS, ("weight", "bias"))
    heads: dict[str, Any] = {"pair": pairs["weight"], "pair_bias": pairs["bias"], **notes}
    np.savez(folder / "heads.npz", **heads)


def _mean(folders: Sequence[Path], name: str) -> dict[str, Vectors]:
    """The mean of arrays of the same names and shapes."""
    each = [read_arrays(folder / f"{name}.npz") for folder in folders]
    return {key: np.mean([arrays[key] for arrays in each], axis=0) for key in each[0]}


def _scores(examples: Path, adapter: Path, heads: dict[str, Vectors]) -> dict[str, Vectors]:
    """What ``adapter_train`` says of prompts that were not learned from, by llama.cpp."""
    config = load_config()
    weights = Weights(ModelRegistry(config.models_dir).resolve_llm(config.llm), repack=False)
    states = HiddenStates(
        weights, LAYER, threads=config.threads, adapter=adapter, copies=adapter.parent
    )
    found: dict[str, Vectors] = {}
    for task in ("lines", "pairs"):
        data = np.load(examples / f"{task}.npz")
        tokens, places = (
            np.split(data[name], np.cumsum(data[counts])[:-1])
            for name, counts in (("tokens", "token_counts"), ("places", "place_counts"))
        )
        rows = _sampled(data, task)
        begin = _shared([tokens[n] for n in rows])
        for number, n in enumerate(rows, 1):
            if task == "pairs":
                state = states.read([tokens[n].tolist()])
                found[f"pairs.{n}"] = state @ heads["pair"] + heads["pair_bias"]
            else:
                read = states.along(tokens[n].tolist(), places[n].tolist(), begin)
                about = float(read.mean(axis=0) @ heads["answered"] + heads["answered_bias"])
                found[f"lines.{n}"] = np.append(scores_of(read, heads), np.float32(about))
            if number % 50 == 0:
                progress(f"{task}: {number} of {len(rows)} read")
    states.close()
    return found


def _shared(prompts: Sequence[NDArray[Any]]) -> int:
    """How many tokens all begin with."""
    least = min(len(one) for one in prompts)
    differ = [np.flatnonzero(one[:least] != prompts[0][:least]) for one in prompts]
    return int(min([least, *(places[0] for places in differ if len(places))]))


def _sampled(data: Mapping[str, NDArray[Any]], task: str) -> list[int]:
    """The prompts that are read without a GPU; they lie in the file in any order."""
    most = LINES_READ if task == "lines" else PAIRS_READ
    kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for n in _unlearned(data):
        kinds[str(data["home"][n]), str(data["split"][n])].append(n)
    return [
        n
        for (home, split), rows in kinds.items()
        if home != "languages" and (task == "lines" or split == "measure")
        for n in rows[:most]
    ]


def _ship(
    folder: Path,
    heads: dict[str, Vectors],
    adapter: dict[str, Vectors],
    notes: dict[str, Any],
    pairs: dict[str, Any],
) -> None:
    """Write the classifiers, with what calibrates them, and the adapter."""
    identity = LocalLanguageModel(load_config()).identity
    shared: dict[str, Any] = {"layer": np.float32(LAYER), "model": np.str_(identity)}
    weights: dict[str, Any] = {name: heads[name] for name in OF_NOTES}
    np.savez_compressed(folder / NOTES.name, **shared, **weights, **notes)
    weights = {"weight": heads["pair"], "bias": heads["pair_bias"]}
    np.savez_compressed(folder / PAIRS.name, **shared, **weights, **pairs)
    path = _write_adapter(folder, adapter)
    progress(f"wrote {path} ({path.stat().st_size // 1024} KB)")


def _read(folder: Path, task: str, scores: dict[str, Vectors]) -> Iterator[Read]:
    """The prompts of a task that were not learned from and have scores."""
    data = np.load(folder / f"{task}.npz")
    ends = np.cumsum(data["place_counts"])
    at = 0
    for n in _unlearned(data):
        labels = data["labels"][ends[n] - data["place_counts"][n] : ends[n]]
        first = data["first"][at : at + len(labels)]
        at += len(labels)
        if f"{task}.{n}" not in scores:
            continue
        yield Read(
            str(data["writer"][n]),
            str(data["home"][n]),
            str(data["split"][n]) == "measure",
            labels,
            first,
            scores[f"{task}.{n}"].astype(np.float32),
            float(data["rivals"][n]),
            int(data["compared"][n]),
            float(data["weight"][n]),
        )


def _unlearned(data: Mapping[str, NDArray[Any]]) -> list[int]:
    rows: list[int] = np.flatnonzero(data["split"] != "learn").tolist()
    return rows


def _fit(
    inputs: Vectors, labels: Sequence[bool] | Vectors, weight: Sequence[float] | None = None
) -> Vectors:
    """Weights of the signs and a bias, so that the sum is a calibrated log-odds."""
    model = LogisticRegression(C=100.0, max_iter=1000).fit(inputs, labels, sample_weight=weight)
    return np.array([*model.coef_[0], model.intercept_[0]], np.float32)


def _apart(rows: Sequence[Read], fit: Callable[[Sequence[Read]], Vectors]) -> list[Vectors]:
    """Of each row what is fitted without its writer."""
    known = {w: fit([one for one in rows if one.writer != w]) for w in {one.writer for one in rows}}
    return [known[one.writer] for one in rows]


def _of_notes(rows: Sequence[Read], figures: dict[str, float]) -> dict[str, Vectors]:
    """How the scores of notes are mixed."""
    rows = [one for one in rows if one.home != "languages"]
    fair = [one for one in rows if one.held or one.home == "people"]
    mixes, answered = _apart(rows, _mix_of_notes), _apart(fair, _mix_of_all)
    for home in HOMES:
        held = [n for n, one in enumerate(rows) if one.held and one.home == home]
        labels = np.concatenate([rows[n].labels for n in held])
        chances = [mixed(signs(rows[n].scores[:-1]), mixes[n]) for n in held]
        needed, own = labels == NEEDED, np.concatenate(chances)
        known = [(one, mix) for one, mix in zip(fair, answered, strict=True) if one.home == home]
        whole = [
            float(mixed([[s] for s in _of_all(one)], mix)[0]) for one, mix in known if one.held
        ]
        some = np.array([NEEDED in one.labels for one, _ in known if one.held])
        top = [
            rows[n].labels[chance.argmax()] == NEEDED
            for n, chance in zip(held, chances, strict=True)
            if NEEDED in rows[n].labels
        ]
        figures |= {
            f"{home}.n": len(labels),
            f"{home}.needed": int(needed.sum()),
            f"{home}.auc": float(roc_auc_score(needed, own)),
            f"{home}.precision": float(average_precision_score(needed, own)),
            f"{home}.top": float(np.mean(top)),
            f"{home}.answered": float(roc_auc_score(some, whole)),
            f"{home}.silent.answered": float(np.mean(np.array(whole)[some] < KNOWN)),
            f"{home}.silent.others": float(np.mean(np.array(whole)[~some] < KNOWN)),
        }
        marked = labels > 0
        if not needed[marked].all():  # follow-ups mark nothing that was changed
            figures[f"{home}.changed"] = float(roc_auc_score(needed[marked], own[marked]))
    return {"mix": _mix_of_notes(rows), "answered_mix": _mix_of_all(fair)}


def _mix_of_notes(rows: Sequence[Read]) -> Vectors:
    inputs = np.concatenate([np.stack(signs(one.scores[:-1]), axis=1) for one in rows])
    return _fit(inputs, np.concatenate([one.labels == NEEDED for one in rows]))


def _mix_of_all(rows: Sequence[Read]) -> Vectors:
    return _fit(np.array([_of_all(one) for one in rows]), [NEEDED in one.labels for one in rows])


def _of_all(one: Read) -> tuple[float, float, float]:
    return together(float(one.scores[-1]), one.scores[:-1], one.first)


def _of_pairs(rows: Sequence[Read], figures: dict[str, float]) -> dict[str, Vectors]:
    """How opinions about pairs are mixed: measured in homes of much and of little."""
    homes = [
        [one for one in rows if one.home == "people"],
        [one for one in rows if one.home == "voices" and one.held],
    ]
    for name, own in zip(("much", "little"), homes, strict=True):
        mixes = _apart(own, _mix_of_pairs)
        held = [(one, mix) for one, mix in zip(own, mixes, strict=True) if one.held]
        labels = np.array([bool(np.isin(one.labels[0], CHANGED)) for one, _ in held])
        scores = {
            "statement_reader": np.array([one.first[0] for one, _ in held]),
            "language_model": np.array([one.scores[0] for one, _ in held]),
            "both": np.array([float(mixed(_signs([one]), mix)[0]) for one, mix in held]),
        }
        figures |= {f"{name}.n": len(held), f"{name}.changes": int(labels.sum())}
        for kind, score in scores.items():
            figures[f"{name}.{kind}.auc"] = float(roc_auc_score(labels, score))
            figures[f"{name}.{kind}.precision"] = float(average_precision_score(labels, score))
        for least in (0.2, 0.5, 0.95):
            found = scores["both"] >= least
            figures[f"{name}.both.from_{least}.right"] = float(labels[found].mean())
            figures[f"{name}.both.from_{least}.found"] = float(found[labels].mean())
    # ``pair_mix`` weighs what else is known of a pair; the last weight is of how much was told.
    kept = read_arrays(PAIRS, BY_PAIR_MIX)
    mixes = [np.insert(_mix_of_pairs(own), -1, 0.0) for own in homes]
    return kept | {"mix_of_words": np.stack(mixes)}


def _signs(rows: Sequence[Read]) -> list[Vectors]:
    first = logit([float(one.first[0]) for one in rows])
    own = np.array([one.scores[0] for one in rows], np.float32)
    return [first, own, np.array([one.rivals for one in rows], np.float32)]


def _mix_of_pairs(rows: Sequence[Read]) -> Vectors:
    labels = [bool(np.isin(one.labels[0], CHANGED)) for one in rows]
    return _fit(np.stack(_signs(rows), axis=1), labels, [one.weight for one in rows])


def _write_adapter(folder: Path, arrays: dict[str, Vectors]) -> Path:
    """The file that llama.cpp loads, alone in its folder; the scale is in the arrays."""
    for old in folder.glob("reading*.gguf"):
        old.unlink()
    path = folder / "reading.gguf"
    writer = GGUFWriter(path, "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 0.0)
    for name, array in arrays.items():
        if int(name.split(".")[1]) <= LAYER:
            stem, _, side = name.rpartition(".")
            writer.add_tensor(f"{stem}.lora_{side}", array.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    identity = LocalLanguageModel(load_config()).identity
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return path.rename(folder / f"reading-{identity.rpartition(':')[2]}-{sha256[:12]}.gguf")


if __name__ == "__main__":
    main()
