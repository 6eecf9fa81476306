"""What docs/results.md claims, and by which figures of ``benchmarks/results``.

A figure is named by its key, never typed: ``{a,b}`` in a key stands for several figures of one
cell, ``config.NAME`` for a setting of the run, ``seeds`` for how many seeds it had, ``FILE:KEY``
for a figure of another file that the claim names. Only bars are numbers here, where the run does
not tell them itself. A sentence holds no figure, so that it cannot differ from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Bar:
    sign: Literal[">=", "<="]
    limit: float | str
    """The number, or the key of the figure that holds it."""
    of: str = ""
    """What is held against the bar, where it is not the figure of ours itself."""
    times: str = ""
    """The limit is so many times this figure."""


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    ours: str
    others: Mapping[str, str] = field(default_factory=dict)
    """Keys by the name of each alternative."""
    n: str = ""
    """Keys joined by `` * ``; behind ``|`` of each stands what is counted."""
    bars: tuple[Bar | None, ...] = ()
    """One a figure of ours."""


@dataclass(frozen=True, slots=True)
class Claim:
    heading: str
    says: str
    files: tuple[str, ...]
    ours: str
    """What ours is, for the head of the table."""
    rows: tuple[Row, ...]
    disappoints: bool = False
    """Said first, also where no bar is missed."""


def least(limit: float | str, of: str = "", times: str = "") -> Bar:
    return Bar(">=", limit, of, times)


def most(limit: float | str, of: str = "", times: str = "") -> Bar:
    return Bar("<=", limit, of, times)


# What a run was given, where it was not called without options. DIR is the folder of the data sets.
OPTIONS = {
    "abstention": "--data DIR",
    "attacks_kills": "--part PART",
    "attacks_lines": "--part PART",
    "attacks_requests": "--part PART",
    "attacks_writers": "--part PART",
    "autofill": "--data DIR",
    "dates": "--data DIR",
    "editing": "--data DIR",
    "emg_ablation": "--data DIR",
    "emg_graph_locomo": "--data DIR --sets locomo --seeds 1",
    "emg_graph_memdaily_zh": "--data DIR --sets memdaily_zh --seeds 0 --trajectories 60",
    "emg_k": "--data DIR --lives 4",
    "emg_links": "--lives 2",
    "emg_online": "--data DIR",
    "emg_policies": "--data DIR --answers 0 --lives 4",
    "adapter_fit": "TRAINED",
    "emg_policies_conversations":
        "--data DIR --part conversations --sets locomo --answers 12 --policies top-k bm25 rrf"
        " fused-plain fused recency random partitioned decomposed walk scout purple rums-binary"
        " rums-multi oracle",
    "emg_policies_lives": "--data DIR --part lives --sets lives_test --lives 4 --answers 8",
    "emg_policies_messages": "--data DIR --part messages --sets memdaily_zh --answers 3",
    "extraction": "--data DIR",
    "import_speed": "--before FOLDER --lines 20000",
    "large_home": "--home FOLDER --parts first choose edit same",
    "large_home_import": "--import-lines 1000000",
    "map_cross": "--data DIR",
    "map_ratings": "--data DIR",
    "persona_opinions": "--data DIR",
    "placing": "--data DIR",
    "probe": "--data DIR",
    "purple": "--data DIR",
    "purple_draw_1": "--data DIR --draw 1 --tasks rating survey answers",
    "purple_evidence": "--data DIR --questions 30 --seeds 2",
    "purple_more_1": "--data DIR --more 1 --tasks rating survey answers",
    "recall": "--data DIR",
    "reward_kinds": "--data DIR --reward-model smollm2-135m",
    "reward_model": "--data DIR",
    "routing": "--data DIR",
    "rums_h1": "--data DIR",
    "rums_h1_some": "--data DIR --side 0 --of 'smollm2-135m plain=0' 'smollm2-135m chat=0'"
        " 'qwen2.5-coder-1.5b plain=0' 'qwen2.5-coder-1.5b chat=40'",
    "rums_h1_sweep": "--data DIR --side 0 20 --of 'smollm2-135m plain=0' 'smollm2-135m chat=0'"
        " 'qwen2.5-coder-1.5b plain=0' 'qwen2.5-coder-1.5b chat=0'",
    "rums_h2": "--data DIR --few 24 --prompted",
    "rums_h3": "--data DIR --prompted --all 24 --personamem 8 --few 8",
    "rums_train": "--data DIR --labels reference entropy question gold --need",
    "screens": "--data DIR",
    "thresholds": "--lives 2",
    "training_cost": "--reward likelihood",
    "training_person": "--policies purple rums-binary",
    "vector_search": "--encoded 15000 --seeds 1",
    "which_policy": "--data DIR",
}  # fmt: skip
