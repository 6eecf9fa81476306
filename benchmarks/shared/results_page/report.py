"""Writes ``docs/results.md`` and the table of attacks in ``docs/security.md`` from
``benchmarks/results``: ``python -m benchmarks.report``.

``python -m benchmarks.report --dirty`` lists the result files that come from uncommitted code, with
the command of each, and writes nothing.

``claims_papers`` and ``claims_product`` say what is claimed and by which figures; every figure is
read here, from the file that a benchmark wrote. Invariant: a claim that names a figure which its
file does not have stops the report; a claim whose file is not there yet is named as left out.
"""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.shared.common import ROOT, file_of
from benchmarks.shared.results_page import claims_papers, claims_product, security_table
from benchmarks.shared.results_page.claims import OPTIONS, Bar, Claim, Row

RESULTS = ROOT / "benchmarks" / "results"
TARGET = ROOT / "docs" / "results.md"
CLAIMS = (
    *claims_papers.EMG, *claims_papers.OTHER_PAPERS, *claims_product.QUALITY, *claims_product.SPEED,
)  # fmt: skip
HEAD = """# Results

Written by `python -m benchmarks.report`; every figure comes from a file of
[benchmarks/results](../benchmarks/results), which hold many more. Each claim names the command and
revision of its run (`+`: with changes not committed). Bars and goals, of the docs or of the
benchmark, are kept or **missed**; in brackets is what is held against one, where that is not our
figure itself. Sentences and bars are written by hand, figures are not. Data sets are development
parts. Times are of a shared machine with 2 cores and no GPU. [Notes](results-notes.md) on files.
"""


class UnknownFigureError(LookupError):
    """A claim names a figure or setting that no run has written."""


@dataclass(frozen=True, slots=True)
class Files:
    """Results as the benchmarks wrote them, by name."""

    by_name: Mapping[str, Mapping[str, Any]]

    @staticmethod
    def read(folder: Path = RESULTS) -> Files:
        paths = sorted(p for p in folder.glob("*.json") if not p.stem.endswith(".quick"))
        return Files({path.stem: json.loads(path.read_text("utf-8")) for path in paths})

    def figures(self, claim: Claim, key: str) -> list[float]:
        """What a key of the claim stands for: one figure, or several in their order."""
        found = []
        for one in _expanded(key):
            head, _, rest = one.partition(":")
            named = bool(rest) and head in claim.files
            found.append(self._figure(*((head, rest) if named else (claim.files[0], one))))
        return found

    def _figure(self, name: str, key: str) -> float:
        result = self.by_name[name]
        found: Any = None
        if key == "seeds":
            found = len(result["seeds"])
        elif key.startswith("config."):
            found = _setting(result["config"], key.removeprefix("config."))
        else:
            found = result["figures"].get(key)
        if not isinstance(found, int | float):
            raise UnknownFigureError(f"benchmarks/results/{name}.json has no figure '{key}'")
        return found


def _expanded(key: str) -> Iterator[str]:
    """``a.{b,c}``: ``a.b`` and ``a.c``."""
    found = re.fullmatch(r"([^{]*)\{([^}]*)\}(.*)", key)
    if not found:
        yield key
        return
    for middle in found[2].split(","):
        yield found[1] + middle + found[3]


def _setting(config: object, path: str) -> object:
    """A setting by its path; names may hold dots themselves."""
    if not isinstance(config, Mapping):
        return None
    if path in config:
        return config[path]
    name, _, rest = path.partition(".")
    return _setting(config.get(name), rest) if rest else None


# ---- one claim --------------------------------------------------------------------------------


def _held(files: Files, claim: Claim, row: Row) -> Iterator[tuple[str, bool]]:
    """Each bar of a row as it is shown, and whether it is missed."""
    for own, bar in zip_longest(files.figures(claim, row.ours), row.bars):
        if bar is None:
            yield "–", False
            continue
        value = files.figures(claim, bar.of)[0] if bar.of else own
        if value is None:
            raise UnknownFigureError(f"'{row.what}' has a bar without a figure")
        limit = _limit(files, claim, bar)
        missed = value < limit if bar.sign == ">=" else value > limit
        sign = "≥" if bar.sign == ">=" else "≤"
        tail = f" ({_shown(value)})" if bar.of else ""
        yield f"{sign} {limit:.3g}{tail} {'**missed**' if missed else 'kept'}", missed


def _limit(files: Files, claim: Claim, bar: Bar) -> float:
    limit = files.figures(claim, bar.limit)[0] if isinstance(bar.limit, str) else bar.limit
    return limit * (files.figures(claim, bar.times)[0] if bar.times else 1)


def _count(files: Files, claim: Claim, n: str) -> str:
    """``a|people * seeds``: 12 people × 3 seeds."""
    parts = []
    for one in filter(None, n.split(" * ")):
        key, _, unit = one.partition("|")
        unit = unit or ("seeds" if key.endswith("seeds") else "")
        parts.append(f"{_cell(files, claim, key)} {unit}".strip())
    return " × ".join(parts)


def _line(files: Files, claim: Claim, row: Row) -> tuple[str, bool]:
    bars = list(_held(files, claim, row)) if row.bars else []
    others = [f"{name}: {_cell(files, claim, key)}" for name, key in row.others.items()]
    texts = (row.what, _cell(files, claim, row.ours), "; ".join(others),
             _count(files, claim, row.n), " / ".join(text for text, _ in bars))  # fmt: skip
    return f"| {' | '.join(texts)} |", any(missed for _, missed in bars)


def _cell(files: Files, claim: Claim, key: str) -> str:
    return " / ".join(_shown(value) for value in files.figures(claim, key))


def _shown(value: float) -> str:
    if float(value).is_integer() or abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.0e}"


def section(files: Files, claim: Claim) -> tuple[str, bool]:
    """A claim as a heading, a sentence with its commands and a table; whether a bar is missed."""
    lines = sorted((_line(files, claim, row) for row in claim.rows), key=lambda line: not line[1])
    table = "\n".join(text for text, _ in lines)
    commands = "; ".join(f"{_command(files, name)} at {_revision(files, name)}"
                         for name in claim.files)  # fmt: skip
    text = (
        f"### {claim.heading}\n{claim.says} {commands}.\n\n"
        f"| | {claim.ours} | alternative | n | bar |\n|---|---|---|---|---|\n{table}\n"
    )
    return text, any(missed for _, missed in lines)


def _command(files: Files, name: str) -> str:
    plain = f"python -m benchmarks.{module_of(name)}"
    if name in OPTIONS:
        return f"`{plain} {OPTIONS[name]}`"
    return f"`{files.by_name[name]['config'].get('command', plain)}`"


def module_of(name: str) -> str:
    """What wrote the results of this name: a part of a benchmark is named after the whole."""
    while name and not file_of(name):
        name = name.rpartition("_")[0]
    return name


def _revision(files: Files, name: str) -> str:
    revision, dash, _ = str(files.by_name[name]["revision"]).partition("-")
    return revision[:10] + ("+" if dash else "")


# ---- the page ---------------------------------------------------------------------------------


def page(files: Files, claims: Sequence[Claim] = CLAIMS) -> str:
    """All claims, what disappoints first, and the other files."""
    first: list[str] = []
    rest: list[str] = []
    absent: list[str] = []
    for claim in claims:
        missing = [name for name in claim.files if name not in files.by_name]
        if missing:
            names = ", ".join(f"`python -m benchmarks.{module_of(name)}`" for name in missing)
            absent.append(f"{claim.heading} ({names})")
            continue
        text, missed = section(files, claim)
        (first if missed or claim.disappoints else rest).append(text)
    named = {name for claim in claims for name in claim.files}
    dirty = uncommitted(files)
    changed = (
        f"- From uncommitted code, {len(dirty)} of {len(files.by_name)} (`python -m"
        f" benchmarks.report --dirty` gives their commands): {', '.join(dirty)}.\n"
    )
    left_out = f"- Left out, no full run yet: {'; '.join(absent)}.\n"
    others = [name for name in files.by_name if name not in named]
    return "".join([
        HEAD,
        "\n## What misses a bar or disappoints\n\n", *first,
        "\n## The rest\n\n", *rest,
        "\n## Other result files\n\n",
        *([left_out] if absent else []), *([changed] if dirty else []),
        *_others(files, others),
    ])  # fmt: skip


def _others(files: Files, names: Sequence[str]) -> list[str]:
    """The files that no claim names; those of one command, or of one's options, in one line."""
    by_command: dict[str, list[str]] = {}
    for name in names:
        command = _command(files, name).replace(f"benchmarks.{name}", "benchmarks.NAME")
        by_command.setdefault(command, []).append(f"[{name}](../benchmarks/results/{name}.json)")
    return [f"- {command}: {', '.join(links)}\n" for command, links in by_command.items()]


def uncommitted(files: Files) -> list[str]:
    """Names of the result files whose run had changes that were not committed."""
    return [name for name, one in files.by_name.items() if "-dirty" in str(one["revision"])]


def main() -> None:
    options = ArgumentParser(prog="python -m benchmarks.report", description=__doc__)
    options.add_argument("--dirty", action="store_true", help="list results of uncommitted code")
    files = Files.read()
    if options.parse_args().dirty:
        found = uncommitted(files)
        for name in found:
            print(f"{name:28} {_command(files, name).strip('`')}")
        print(f"{len(found)} of {len(files.by_name)} result files come from uncommitted code")
        return
    TARGET.write_text(page(files), encoding="utf-8")
    security = security_table.TARGET
    security.write_text(security_table.page(security.read_text("utf-8")), "utf-8")
    print(f"{len(CLAIMS)} claims, {len(files.by_name)} result files in {TARGET} and {security}")


if __name__ == "__main__":
    main()
