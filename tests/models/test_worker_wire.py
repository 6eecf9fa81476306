"""Messages between memlane and the process of a model: whole, exact, or refused at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.models.worker.wire import Frames, Nonsense, pack

JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


# How fast messages are made up says nothing of how they are sent: a busy machine is no fault.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=4), st.data())
def test_messages_arrive_whole_however_the_bytes_are_cut(messages, data):
    sent = b"".join(map(pack, messages))
    cut = data.draw(st.integers(0, len(sent)))
    frames = Frames()
    assert frames.feed(sent[:cut]) + frames.feed(sent[cut:]) == messages


@given(st.floats(width=32, allow_nan=False))
def test_a_float_of_32_bits_comes_back_to_the_last_bit(number):
    (message,) = Frames().feed(pack({"done": [float(np.float32(number))]}))
    assert np.float32(message["done"][0]).tobytes() == np.float32(number).tobytes()


@pytest.mark.parametrize(
    "garbage",
    [
        b"hello",
        b"\x00" * 20,
        b"mlw1\xff\xff\xff\xff",
        b"mlw1\x00\x00\x00\x02[]",
        b"mlw1\x00\x00\x00\x02{x",
        b"m\x00",
    ],
)
def test_nonsense_is_seen_at_once(garbage: bytes):
    with pytest.raises(Nonsense):
        Frames().feed(garbage)
