import numpy as np
import pandas as pd
import polars as pl
import pytest

import afterwit as aw
from afterwit.data.labels import Labels
from afterwit.errors import InputError, LabelError
from afterwit.streams.libsvm import label_as_written, labels_as_written


@pytest.mark.parametrize(
    "pair",
    [(-1, 1), (0, 1), (False, True), ("ham", "spam"), (1, 2), (None, "x"), (0.5, 1.5), ((0, 1), (1, 0)), ("a", 1)],
)
def test_there_and_back(pair):
    labels = Labels(pair)
    mixed = [pair[0], pair[1], pair[1], pair[0]]
    signs = labels.signs(mixed)
    assert signs.tolist() == [-1, 1, 1, -1]
    assert signs.dtype == np.int8
    back = labels.decode(signs)
    assert back.tolist() == mixed
    assert [type(label) for label in back.tolist()] == [type(label) for label in mixed]
    assert [labels.lookup[label] for label in mixed] == [-1, 1, 1, -1]


def test_arrays_and_columns_of_any_library():
    for column in (np.array([0, 1, 1]), np.array([0.0, 1.0, 1.0]), pd.Series([0, 1, 1]), pl.Series([0, 1, 1])):
        assert Labels((0, 1)).signs(column).tolist() == [-1, 1, 1]
    for column in (
        np.array(["n", "y"]),
        pd.Series(["n", "y"]),
        pd.Series(["n", "y"], dtype="category"),
        pl.Series(["n", "y"]),
    ):
        assert Labels(("n", "y")).signs(column).tolist() == [-1, 1]


def test_other_sequences_and_columns():
    import pyarrow as pa

    assert Labels((0, 1)).signs(range(2)).tolist() == [-1, 1]
    assert Labels(("n", "y")).signs(pa.array(["y", "n"])).tolist() == [1, -1]
    with pytest.raises(InputError, match="y must be without a mask"):
        Labels((0, 1)).signs(np.ma.array([0, 1], mask=[True, False]))


def test_numbers_are_never_made_of_strings_nor_strings_of_numbers():
    with pytest.raises(LabelError, match=r"y\[1\] must be 0 or 1; received '1'"):
        Labels((0, 1)).signs([0, "1"])
    with pytest.raises(LabelError, match=r"y\[0\] must be '0' or '1'; received 0"):
        Labels(("0", "1")).signs(np.array([0, 1]))
    with pytest.raises(LabelError, match=r"y\[2\] must be 0 or 1; received nan"):
        Labels((0, 1)).signs(np.array([0, 1, np.nan]))


@pytest.mark.parametrize(
    "bad", ["ab", (1,), (1, 1), (1, 1.0), (0, 1, 2), {0: 1, 1: 2}, {0, 1}, 5, None, ([], [1]), (1, float("nan"))]
)
def test_bad_pairs(bad):
    with pytest.raises(InputError, match="labels must be a pair"):
        Labels(bad)


@pytest.mark.parametrize("bad", [np.array([[1]]), 5, None])
def test_bad_columns(bad):
    with pytest.raises(InputError, match="y must be"):
        Labels((-1, 1)).signs(bad)


def test_equality():
    assert Labels((0, 1)) == Labels((0, 1)) != Labels((1, 0))
    assert len({Labels((0, 1)), Labels((0, 1))}) == 1
    assert Labels(Labels(("a", "b"))).pair == ("a", "b")
    assert repr(Labels((0, 1))) == "Labels((0, 1))"


def test_minus_zero_is_zero():
    """A label of -0.0 was kept apart in blocks and was 0 in rows: it is the label 0 everywhere."""
    assert repr(Labels((-0.0, 1.0)).pair) == "(0.0, 1.0)"
    assert Labels((0, 1)).signs(np.array([-0.0, 1.0, 0.0])).tolist() == [-1, 1, -1]
    assert Labels((0, 1)).signs([-0.0, 1]).tolist() == [-1, 1]
    assert repr(Labels((-0.0, 1.0)).decode(np.array([-1, 1])).tolist()) == "[0.0, 1.0]"
    assert repr(labels_as_written(np.array([-0.0, 1.0])).tolist()) == "[0, 1]"
    assert repr(label_as_written(-0.0)) == "0"
    learner = aw.OneVsRest()
    learner.learn_many([[1.0], [2.0]], [-0.0, 1.0])
    learner.learn_one([1.0], 0.0)
    assert repr(learner.classes) == "(0.0, 1.0)"
