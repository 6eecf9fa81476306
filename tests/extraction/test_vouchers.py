"""A voucher or pass without labels -> one sentence that ends with its day, without a model."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.extraction.documents.vouchers import read_pass
from benchmarks.shared.memories_read import memories_read
from store.types import SourceKind

NOW = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Trattoria Uno\nLUNCH VOUCHER\nValid until 2024-06-20\nNo. 88213",
            "My lunch voucher from Trattoria Uno, No. 88213, is valid until 2024-06-20.",
        ),
        (
            "Library card for Zone B\nExpires: 18 March 2025",
            "My library card for Zone B is valid until 18 March 2025.",
        ),
        ("Aquadome\nSwim Pass\nuse by May 9, 2024", "My swim pass from Aquadome is valid until "
         "May 9, 2024."),
    ],
)  # fmt: skip
def test_a_card_becomes_one_sentence(text: str, said: str):
    assert read_pass(text) == said
    assert memories_read(text, SourceKind.SCREENSHOT, NOW) == (said,)


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ms Weber,\nyour ticket is attached.\nKind regards",
        "Voucher A\nValid until 2024-06-20\nVoucher B\nValid until 2024-07-20",
        "Valid until 2024-06-20",
        "",
    ],
)
def test_what_is_no_single_card_is_left_to_others(text: str):
    assert read_pass(text) is None
