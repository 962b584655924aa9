"""Repeating the last label: exact counts, a bound that is met, and examples that are checked though not looked at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
from afterwit.core.certificate import Verdict
from afterwit.errors import InputError
from afterwit.experts.repeat_last_label import ChangesBound

signs = st.lists(st.sampled_from([-1, 1]), max_size=30)


@given(signs, st.booleans())
def test_it_says_what_came_last(labels, by_name):
    learner = aw.RepeatLastLabel()
    examples = [{}] * len(labels) if by_name else np.zeros((len(labels), 2))
    expected = [1, *labels[:-1]] if labels else []
    assert learner.learn_many(examples, labels).tolist() == expected
    changes = sum(a != b for a, b in zip(labels[1:], labels[:-1], strict=True))
    assert learner.changes == changes
    assert learner.updates == (changes + 1 if labels else 0)
    assert learner.mistakes == changes + (labels[:1] == [-1])
    one_by_one = aw.RepeatLastLabel()
    assert [one_by_one.learn_one(x, y) for x, y in zip(examples, labels, strict=True)] == expected
    assert one_by_one == learner


@given(signs.filter(len), st.integers(1, 3))
def test_the_bound_is_met_exactly_if_the_first_label_is_negative(labels, passes):
    learner = aw.RepeatLastLabel()
    for _ in range(passes):
        learner.learn_many([{}] * len(labels), labels)
    for certificate in (learner.certificate(), learner.certificate([{}] * len(labels), labels)):
        assert certificate.verdict is Verdict.HOLDS
        assert certificate.observed == learner.mistakes
        assert certificate.bound == learner.changes + 1
        assert certificate.bound - certificate.observed == (0 if labels[0] == -1 else 1)


def test_scores():
    learner = aw.RepeatLastLabel(labels=("a", "b"))
    assert learner.score_one({}) == 0.0
    learner.learn_one({}, "a")
    assert (learner.score_one({}), learner.score_many([{"x": 1}, {}]).tolist()) == (-1.0, [-1.0, -1.0])
    assert learner.learn_scores([{}, {}], ["b", "b"]).tolist() == [-1.0, 1.0]


def test_other_rounds_get_no_certificate():
    learner = aw.RepeatLastLabel()
    X = np.zeros((4, 1))
    learner.learn_many(X, [1, -1, -1, 1])
    for other in ([1, -1, 1, -1], [-1, -1, -1, 1], [-1, 1, 1, -1]):
        assert learner.certificate(X, other).verdict is Verdict.NOT_APPLICABLE
    assert learner.certificate(X[:3], [1, -1, -1]).verdict is Verdict.NOT_APPLICABLE
    with pytest.raises(InputError, match="y must be given together with X"):
        learner.certificate(X)


@pytest.mark.parametrize(
    "change", [{"last": 2}, {"last": 0}, {"last": True}, {"space": "here"}, {"rounds": 0}], ids=repr
)
def test_a_state_that_is_none_is_refused(change):
    learner = aw.RepeatLastLabel()
    learner.learn_many(np.zeros((2, 1)), [1, -1])
    before = learner.copy()
    with pytest.raises(InputError):
        learner.restore({**learner.state(), **change})
    assert learner == before


def test_whole_numbers_and_names_are_checked():
    learner = aw.RepeatLastLabel()
    learner.learn_one({"a": 1, "b": np.float32(2)}, 1)
    with pytest.raises(InputError, match=r"^x\['a'\] must be a finite number; received inf$"):
        learner.predict_one({"a": float("inf")})
    with pytest.raises(InputError, match="x must be with features by name"):
        learner.predict_one([1.0])
    assert learner.rounds == 1


def test_the_theorem_says_what_it_is():
    assert aw.RepeatLastLabel.theorems == (ChangesBound(),)
    assert ChangesBound.bound(4) == 5
