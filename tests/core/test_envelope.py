import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.core.envelope import Envelope
from afterwit.errors import InputError
from naive_envelope import pieces

numbers = st.one_of(st.floats(-1e12, 1e12), st.sampled_from([0.0, np.inf, -np.inf, np.nan]))


def of(curve):
    return list(zip(curve.ends, curve.low, curve.high, curve.last, strict=True))


def assert_pieces(curve, every, most):
    np.testing.assert_array_equal(np.array(of(curve)).reshape(-1, 4), np.array(pieces(every, most)).reshape(-1, 4))
    assert curve.rounds == len(every)
    assert len(curve) <= most


@given(st.lists(st.lists(numbers, max_size=30), max_size=12), st.sampled_from([2, 4, 6, 10]))
def test_the_pieces_are_those_of_all_numbers_at_once(blocks, most):
    in_blocks, singly = Envelope(most), Envelope(most)
    for block in blocks:
        in_blocks.extend(block)
        for number in block:
            singly.append(number)
    every = [number for block in blocks for number in block]
    assert_pieces(in_blocks, every, most)
    assert_pieces(singly, every, most)
    assert in_blocks == singly


@pytest.mark.parametrize("rounds", [1, 799, 800, 801, 1600, 1601, 100_003])
def test_one_spike_is_never_lost(rounds):
    for place in {0, rounds // 3, rounds - 1}:
        every = np.zeros(rounds)
        every[place] = 7.0
        curve = Envelope()
        curve.extend(every)
        assert len(curve) <= 800
        assert curve.high.max() == 7.0
        assert curve.low.min() == (0.0 if rounds > 1 else 7.0)


def test_a_billion_rounds_need_no_more_room():
    curve = Envelope(most=8)
    block = np.arange(1 << 20, dtype=np.float64)
    for _ in range(64):
        curve.extend(block)
    assert (curve.rounds, curve.width, len(curve)) == (1 << 26, 1 << 23, 8)
    assert (curve.low.tolist(), curve.high.tolist()) == ([0.0] * 8, [(1 << 20) - 1.0] * 8)


def test_an_odd_number_of_pieces_is_made_even():
    curve = Envelope(most=3)
    curve.extend(range(4))
    assert len(curve) == 4


@pytest.mark.parametrize("most", [0, 1, 2.5, "many"])
def test_too_few_pieces(most):
    with pytest.raises(InputError, match="most must be a whole number, at least 2; received"):
        Envelope(most)


def test_copies_are_equal_and_independent():
    curve = Envelope(most=4)
    curve.extend([1.0, 2.0, 3.0])
    for twin in (copy.deepcopy(curve), pickle.loads(pickle.dumps(curve))):
        assert twin == curve
        twin.append(9.0)
        assert twin != curve
    assert curve.rounds == 3
    assert curve != 3


def test_the_arrays_are_copies():
    curve = Envelope(most=4)
    curve.extend([1.0, 2.0])
    curve.low[0] = 77.0
    assert curve.low.tolist() == [1.0, 2.0]
