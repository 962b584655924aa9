"""The best expert and the best sequence of experts, against enumeration."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_hindsight_experts as naive
from afterwit.errors import InputError
from afterwit.hindsight import best_expert, best_shifting

nan = float("nan")
small = st.integers(0, 4).map(float)


def losses_of(values, most_rounds=6, most_experts=3):
    """Rows of equal length, in each of which someone is awake."""
    return st.integers(1, most_experts).flatmap(
        lambda n: st.lists(
            st.lists(values, min_size=n, max_size=n).filter(lambda row: not all(map(math.isnan, row))),
            min_size=1,
            max_size=most_rounds,
        )
    )


@given(losses_of(small, most_rounds=10, most_experts=5))
def test_the_best_expert_has_the_least_sum(losses):
    found = best_expert(losses=losses)
    sums = [sum(column) for column in zip(*losses, strict=True)]
    assert found.losses.tolist() == sums
    assert (found.loss, found.expert, found.position) == (min(sums), sums.index(min(sums)), sums.index(min(sums)))


@given(losses_of(st.one_of(small, st.just(nan)), most_rounds=10, most_experts=4))
def test_sleepers_are_compared_by_their_mean(losses):
    found = best_expert(losses=losses)
    awake = [[loss for loss in column if not math.isnan(loss)] for column in zip(*losses, strict=True)]
    means = [sum(column) / len(column) if column else math.inf for column in awake]
    assert found.expert == means.index(min(means))
    assert found.loss == sum(awake[found.expert])
    assert found.awake_rounds.tolist() == [len(column) for column in awake]
    assert found.mean_loss == min(means)
    assert [math.isinf(mean) for mean in means] == np.isnan(found.mean_losses).tolist()


def test_a_sleeper_does_not_win_by_sleeping():
    found = best_expert(losses=[[1.0, 2.0], [1.0, nan], [1.0, nan]])
    assert found.expert == 0
    assert found.losses.tolist() == [3.0, 2.0]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, lambda data: pd.DataFrame(data).to_dict("records")])
def test_names_come_from_the_columns(frame):
    advice = frame({"sun": [1.0, 2.0, 3.0], "rain": [2.0, 2.0, 2.0]})
    found = best_expert(advice, [2.0, 2.0, 2.0], loss="absolute")
    assert (found.expert, found.loss, found.names) == ("rain", 0.0, ("sun", "rain"))
    assert str(found) == "best expert: 'rain', loss 0 over 3 rounds"
    sequence = best_shifting(advice, [1.0, 2.0, 2.0], 1, "absolute")
    assert [(part.expert, part.first, part.end) for part in sequence.segments] == [("sun", 0, 2), ("rain", 2, 3)]


def test_zero_one_counts_mistakes():
    assert best_expert([[1, 0], [1, 1], [0, 0]], [1, 0, 0], loss="zero-one").losses.tolist() == [1.0, 2.0]


@settings(max_examples=60)
@given(losses_of(st.one_of(small, st.just(nan))), st.integers(0, 4))
def test_the_best_sequence_is_that_of_enumeration(losses, shifts):
    expected = naive.best_sequence(losses, shifts)
    if expected is None:
        with pytest.raises(InputError, match=r"^shifts must be at least") as caught:
            best_shifting(losses=losses, shifts=shifts)
        needed = int(str(caught.value).split()[5])
        assert naive.best_sequence(losses, needed - 1) is None
        assert naive.best_sequence(losses, needed) is not None
        return
    found = best_shifting(losses=losses, shifts=shifts)
    assert found.loss == expected
    followed = found.sequence.tolist()
    assert sum(row[i] for row, i in zip(losses, followed, strict=True)) == expected
    changes = tuple(t for t in range(1, len(followed)) if followed[t] != followed[t - 1])
    assert found.shifts == changes
    assert len(changes) <= shifts
    assert sum(part.loss for part in found.segments) == pytest.approx(expected)


@pytest.mark.parametrize("asleep", [0.0, 0.02])
def test_long_sequences_meet_a_plain_program(asleep):
    """The textbook's recursion, round by round, over more rounds than can be enumerated."""
    random = np.random.default_rng(5)
    losses = random.random((400, 6)) + np.repeat(random.random((8, 6)), 50, axis=0)
    losses[random.random(losses.shape) < asleep] = nan
    most = 30
    filled = np.where(np.isnan(losses), np.inf, losses)
    least = np.tile(filled[0], (most + 1, 1))
    for row in filled[1:]:
        jumped = np.vstack([np.full(6, np.inf), np.repeat(least[:-1].min(axis=1)[:, None], 6, axis=1)])
        least = np.minimum(least, jumped) + row
    for shifts in (0, 1, 7, 30):
        expected = least[shifts].min()
        if np.isinf(expected):
            with pytest.raises(InputError, match="shifts must be at least"):
                best_shifting(losses=losses, shifts=shifts)
        else:
            found = best_shifting(losses=losses, shifts=shifts)
            assert found.loss == pytest.approx(expected, rel=1e-12)
            assert len(found.shifts) <= shifts
    free = best_shifting(losses=losses, shifts=399)
    assert free.loss == pytest.approx(np.nanmin(losses, axis=1).sum(), rel=1e-12)


def test_no_shift_is_the_best_expert():
    losses = np.random.default_rng(1).random((50, 4))
    assert best_shifting(losses=losses, shifts=0).loss == pytest.approx(best_expert(losses=losses).loss)


def test_a_sequence_prints_its_runs():
    losses = np.eye(12)
    assert str(best_shifting(losses=1 - losses, shifts=11)).endswith("  and 2 more")
    assert "at most 1 shift:" in str(best_shifting(losses=losses, shifts=1))


@pytest.mark.parametrize("shifts", [-1, 1.5, None, True, "2"])
def test_bad_shifts_are_refused(shifts):
    with pytest.raises(InputError, match=r"^shifts must be a whole number, at least 0; received"):
        best_shifting(losses=[[1.0]], shifts=shifts)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "advice and outcomes must be given, or losses; received neither"),
        ({"advice": [[1.0]], "outcomes": [1.0], "losses": [[1.0]]}, "received both"),
        ({"losses": [1.0, 2.0]}, "losses must be a 2-D array"),
        ({"losses": "text"}, "losses must be a 2-D array"),
        ({"losses": [[1.0, 2.0], [1.0]]}, "losses must be a 2-D array"),
        ({"losses": np.empty((3, 0))}, "losses must be from at least one expert; received none"),
        ({"losses": np.empty((0, 3))}, "rounds must be at least one; received 0"),
        ({"losses": [[1.0, math.inf]]}, "must be a finite number or missing; received inf"),
        ({"losses": [[1.0, 2.0], [nan, nan]]}, "all sleep"),
        ({"losses": [["a", "b"]]}, "losses must be an array of numbers"),
        ({"advice": [[1.0]], "outcomes": [1.0, 2.0]}, "outcomes must be as long as advice"),
        ({"advice": [[1.0]], "outcomes": [0.0], "loss": "percentage"}, "must be not 0"),
        ({"advice": [[1e200]], "outcomes": [0.0]}, "every loss must be a finite number"),
        ({"advice": [[1.0]], "outcomes": [0.0], "loss": "cubic"}, "loss must be 'square'"),
    ],
)
def test_bad_rounds_are_refused(options, words):
    for solve in (best_expert, lambda **given: best_shifting(shifts=1, **given)):
        with pytest.raises(InputError, match=words.replace("(", r"\(")):
            solve(**options)


def test_what_is_found_cannot_be_changed():
    found = best_expert(losses=[[1.0, 2.0]])
    with pytest.raises(AttributeError):
        found.loss = 0.0
    with pytest.raises(ValueError, match="read-only"):
        found.losses[0] = 0.0
