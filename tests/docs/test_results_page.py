"""docs/results.md: what it claims is what the benchmarks wrote."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmarks.shared.common import file_of
from benchmarks.shared.results_page.claims import OPTIONS, Claim, Row, least, most
from benchmarks.shared.results_page.report import (
    CLAIMS,
    TARGET,
    Files,
    UnknownFigureError,
    module_of,
    page,
    section,
)

ROW = Row("a look, ms", "look.ms", {"plain": "plain.ms"}, "n|looks * seeds")
CLAIM = Claim("Speed", "It is fast.", ("speed",), "ours", (ROW,))
WRITTEN = {
    "config": {"bars": {"10000": 5.0}},
    "seeds": [0, 1],
    "revision": "0123456789abcdef-dirty",
    "figures": {"look.ms": 4.25, "plain.ms": 1234.5, "n": 60, "unknown": None, "times": 2.0},
}
NAMES = r"135M|1\.5B|BM25|F1|\(\S+\.md\)"
"""What holds a digit and is no figure."""
FILES = Files({"speed": WRITTEN})


def row_of(row: Row) -> str:
    text, _ = section(FILES, replace(CLAIM, rows=(row,)))
    return text.splitlines()[-1]


def test_the_page_in_the_tree_is_what_the_generator_gives():
    assert TARGET.read_text("utf-8") == page(Files.read()), "run python -m benchmarks.report"


def test_a_person_can_read_the_page():
    assert len(TARGET.read_text("utf-8").splitlines()) <= 255


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.heading)
def test_every_figure_of_a_claim_is_in_its_file(claim):
    files = Files.read()
    if all(name in files.by_name for name in claim.files):
        section(files, claim)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.heading)
def test_a_sentence_holds_no_figure(claim):
    assert not re.search(r"\d", re.sub(NAMES, "", claim.says))


@pytest.mark.parametrize("key", ["look.s", "look.{ms,s}", "unknown", "config.bars.7", "other:n"])
def test_a_figure_that_no_run_wrote_stops_the_report(key):
    with pytest.raises(UnknownFigureError, match=r"speed\.json has no figure"):
        page(FILES, [replace(CLAIM, rows=(Row("a look", key),))])


def test_a_bar_without_a_figure_stops_the_report():
    with pytest.raises(UnknownFigureError, match="bar without a figure"):
        row_of(Row("a look", "look.ms", bars=(least(1), least(1))))


def test_a_row_tells_ours_the_alternative_and_n():
    assert row_of(ROW) == "| a look, ms | 4.250 | plain: 1,234 | 60 looks × 2 seeds |  |"
    both = Row("a look", "{look,plain}.ms", {"twice": "times", "bar": "config.bars.10000"}, "n")
    assert row_of(both) == "| a look | 4.250 / 1,234 | twice: 2; bar: 5 | 60 |  |"


@pytest.mark.parametrize(
    ("bar", "shown"),
    [
        (least(4), "≥ 4 kept"),
        (most(4), "≤ 4 **missed**"),
        (most("config.bars.10000"), "≤ 5 kept"),
        (least(2.5, "times"), "≥ 2.5 (2) **missed**"),
        (most(3, times="times"), "≤ 6 kept"),
    ],
)
def test_a_bar_is_kept_or_missed(bar, shown):
    assert row_of(Row("a look", "look.ms", bars=(bar,))).endswith(f"| {shown} |")


def test_what_misses_a_bar_or_disappoints_is_said_first():
    missed = replace(CLAIM, heading="Missed", rows=(
        ROW, Row("the bar", "look.ms", bars=(most(1),)),
    ))  # fmt: skip
    weak = replace(CLAIM, heading="Weak", disappoints=True)
    text = page(FILES, [CLAIM, missed, weak])
    told = [line for line in text.splitlines() if line.startswith("#")]
    assert told == ["# Results", "## What misses a bar or disappoints", "### Missed", "### Weak",
                    "## The rest", "### Speed", "## Other result files"]  # fmt: skip
    assert text.index("| the bar |") < text.index("| a look, ms |")


def test_a_claim_without_its_file_is_left_out_in_one_line():
    text = page(FILES, [replace(CLAIM, files=("speed", "startup"))])
    assert "### Speed" not in text
    assert "- Left out, no full run yet: Speed (`python -m benchmarks.startup`).\n" in text


def test_a_file_that_no_claim_names_is_listed_with_its_command():
    text = page(Files({"startup": WRITTEN, "emg_k": WRITTEN}), [])
    link = "[startup](../benchmarks/results/startup.json)"
    assert f"- `python -m benchmarks.NAME`: {link}\n" in text
    assert "- `python -m benchmarks.NAME --data DIR --lives 4`: [emg_k]" in text


def test_changes_that_were_not_committed_are_told():
    assert "at 0123456789+." in section(FILES, CLAIM)[0]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_of_a_command_exist(name):
    paths = [path for path in (file_of(module_of(name)), file_of("common")) if path]
    known = {o for path in paths for o in re.findall(r'"(--[a-z-]+)"', path.read_text("utf-8"))}
    assert set(re.findall(r"--[a-z-]+", OPTIONS[name])) <= known
    assert name in Files.read().by_name
