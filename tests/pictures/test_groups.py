"""The picture of the certificates of groups."""

from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import shown_number
from expert_cases import advice_rounds

matplotlib.use("Agg")


def certificates(groups, count=60, learner=None):
    advice, outcomes = advice_rounds(count, 3)
    names = [groups[t % len(groups)] for t in range(count)]
    learner = aw.PerGroup(learner or aw.MLpol(3))
    learner.learn_many(names, advice, outcomes)
    return learner.certificate(), names, advice, outcomes


def test_every_group_has_what_a_learner_of_its_own_has():
    made, names, advice, outcomes = certificates(["north", "south", "west"])
    table = made.pictures()["groups"].table()
    expected = []
    for group in ("north", "south", "west"):
        there = np.array(names) == group
        learner = aw.MLpol(3)
        learner.learn_many(advice[there], outcomes[there])
        alone = learner.certificate()
        bound = shown_number(alone.bound) + (" (vacuous)" if alone.vacuous else "")
        expected.append((alone.observed, (group, "20", shown_number(alone.observed), bound, "holds")))
    assert table.heads == ("group", "rounds", "regret", "bound", "verdict")
    assert list(table.rows) == [row for _, row in sorted(expected, reverse=True)]


def test_of_many_groups_those_with_most_and_with_least_are_shown():
    made, *_ = certificates([f"g{i}" for i in range(30)], 120)
    rows = made.pictures()["groups"].table().rows
    observed = sorted((each.observed for each in made.parts.values()), reverse=True)
    assert [row[2] for row in rows] == [shown_number(value) for value in observed[:14]] + [""] + [
        shown_number(value) for value in observed[-3:]
    ]
    assert rows[14][0] == "13 groups between"


def test_the_caption_has_the_sums():
    made, *_ = certificates(["north", "south"])
    total = made.total
    said = made.pictures()["groups"].caption
    assert (
        f"in all groups together it is {shown_number(total.observed)}, and at most {shown_number(total.bound)}" in said
    )
    assert f"It is largest in {made.worst}, {shown_number(made.parts[made.worst].observed)}" in said


@pytest.mark.parametrize(
    ("groups", "count", "learner"),
    [
        (["one"], 1, None),
        (["x" * 200, "<b>&$"], 40, None),
        ([("tuple", 1), 2, 3.5], 30, aw.MLpol(3, discount=0.9)),
        (["a", "b"], 30, aw.MLpol(3, loss_range=(-1e9, 1e9))),
    ],
)
def test_no_picture_fails(groups, count, learner):
    made, *_ = certificates(groups, count, learner)
    picture = made.plot()
    assert picture.caption.endswith(".")
    assert len(picture.table().rows) == len(groups)
    ElementTree.fromstring(picture.svg())


def test_groups_have_a_report():
    made, *_ = certificates(["north", "south"])
    text = made.report().html
    assert "2 groups, each with a learner of its own" in text
    assert "Regret of each group" in text
