import math
from dataclasses import replace

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import Ceiling, Verdict
from afterwit.pictures._bars import LARGEST, Bar, short, size_of
from afterwit.pictures.certificates import MOST_BOUNDS, MOST_PARTS
from drawing import drawn, texts


def rounds(count=60, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + generator.normal(size=count) > 0, 1, -1)


@pytest.fixture(scope="module")
def certificate():
    return aw.play(aw.Perceptron(), *rounds()).certificate()


def widths(ax):
    return [patch.get_width() for patch in ax.patches]


def test_the_bars_are_the_three_numbers(certificate):
    picture = certificate.pictures()["numbers"]
    ax = drawn(picture)
    assert widths(ax) == [certificate.bound, certificate.observed, certificate.hindsight.value]
    assert texts(ax)[0].startswith(f"bound: at most {math.floor(certificate.bound)} mistakes")
    assert f"happened: {certificate.observed} mistakes ({certificate.observed / 60:.2%} of the rounds)" in texts(ax)
    assert dict(picture.table().rows)["verdict"] == "holds"


def test_a_promise_is_called_so():
    H = aw.concepts.FiniteClass([[0, 0, 1], [0, 1, 1]])
    made = aw.play(aw.Halving(H), [0, 1, 2], [-1, 1, 1]).certificate()
    assert texts(drawn(made.pictures()["numbers"]))[0].startswith("promised: at most 1 mistake")


def test_a_far_bound_is_on_a_logarithmic_scale(certificate):
    near = replace(certificate, bound=40.0, observed=1.0, hindsight=None)
    far = replace(certificate, bound=60.0, observed=1.0, hindsight=None)
    assert drawn(near.pictures()["numbers"]).get_xscale() == "linear"
    assert drawn(far.pictures()["numbers"]).get_xscale() == "symlog"


def test_a_bound_that_says_nothing_has_its_ceiling(certificate):
    made = replace(certificate, bound=100.0, ceiling=Ceiling(60, "no run of this length could break the bound"))
    ax = drawn(made.pictures()["numbers"])
    assert made.vacuous
    assert 60 in {x for line in ax.lines for x in line.get_xdata()}
    assert any("the bound says nothing here" in text for text in texts(ax))
    holds = replace(certificate, bound=59.0)
    assert 60 not in {x for line in drawn(holds.pictures()["numbers"]).lines for x in line.get_xdata()}


def test_a_theorem_that_does_not_apply_says_why(certificate):
    failed = next(each for each in certificate.others if each.verdict is Verdict.NOT_APPLICABLE)
    ax = drawn(failed.pictures()["numbers"])
    assert texts(ax)[0].startswith("bound: none, not applicable: no hyperplane")
    assert widths(ax) == [failed.observed, failed.hindsight.value]


def test_a_violation_is_named(certificate):
    made = replace(certificate, bound=1.0)
    assert any("THIS IS A BUG" in text for text in texts(drawn(made.pictures()["numbers"])))


@pytest.mark.parametrize(
    ("bound", "observed"),
    [(math.inf, 0.0), (math.inf, -80.0), (1e308, 1e-300), (1e308, 1e308), (1e-300, 1e308), (0.0, 0.0), (-5.0, -80.0)],
)
def test_hostile_numbers(certificate, bound, observed):
    other = replace(certificate, bound=bound, observed=observed, others=())
    for picture in replace(other, others=(other, replace(other, bound=3.0))).pictures().values():
        ax = drawn(picture)
        assert all(abs(limit) <= 4 * LARGEST for limit in ax.get_xlim())


def test_hindsight_in_another_quantity_has_no_bar():
    learner = aw.OnlineSVM()
    made = aw.play(learner, *rounds()).certificate()
    other = replace(made, hindsight=replace(made.hindsight, quantity="length"))
    assert len(widths(drawn(other.pictures()["numbers"]))) == 2


def test_all_bounds_tightest_first(certificate):
    picture = certificate.pictures()["bounds"]
    every = [certificate, *certificate.others]
    applicable = sorted(each.bound for each in every if each.verdict is not Verdict.NOT_APPLICABLE)
    ax = drawn(picture)
    assert widths(ax) == [certificate.observed, certificate.hindsight.value, *applicable]
    assert [row[1] for row in picture.table().rows if row[1]] == [f"{bound:,.4g}" for bound in applicable]
    last = picture.table().rows[-1]
    assert last[1:4] == ("", f"{certificate.observed}", "not applicable")
    assert last[4] == "no hyperplane through the origin that separates the data was found"


def test_bounds_on_other_quantities_have_pictures_of_their_own():
    made = aw.play(aw.AdaGrad(), *rounds()).certificate()
    assert list(made.pictures()) == ["numbers", "bounds", "bounds-mistakes"]
    about_mistakes = next(each for each in made.others if each.quantity == "mistakes")
    assert widths(drawn(made.plot(kind="bounds-mistakes")))[-1] == about_mistakes.bound


def test_of_very_many_bounds_some_are_counted(certificate):
    others = tuple(replace(certificate, bound=100.0 + i, others=()) for i in range(30))
    picture = replace(certificate, others=others).pictures()["bounds"]
    assert texts(drawn(picture))[-1] == f"and {31 - MOST_BOUNDS} more"
    assert len(picture.table().rows) == 31


def test_the_parts_of_one_against_the_rest():
    X, _ = rounds()
    labels = np.digitize(X[:, 0], [-0.5, 0.5]).astype(str)
    made = aw.play(aw.OneVsRest(aw.Perceptron()), X, labels).certificate()
    picture = made.pictures()["parts"]
    parts = sorted(made.others, key=lambda part: -part.observed)
    drawn(picture)
    assert [row[0] for row in picture.table().rows] == [part.subject for part in parts]
    assert [row[1] for row in picture.table().rows] == [f"{part.bound:,.4g}" for part in parts]
    assert [row[2] for row in picture.table().rows] == [f"{part.observed}" for part in parts]


@pytest.mark.parametrize("count", [1, 40])
def test_the_groups(count):
    learner = aw.PerGroup(aw.MLpol(["low", "high"]))
    groups = [f"{'a very long name of a region ' * 3}{i % count}" for i in range(80)]
    advice = [{"low": 10.0, "high": 20.0}] * 80
    outcomes = [10.0 + i % count for i in range(80)]
    learner.learn_many(groups, advice, outcomes)
    made = learner.certificate(groups, advice, outcomes)
    pictures = made.pictures()
    assert list(pictures) == ["numbers", "groups"]
    assert widths(drawn(pictures["numbers"]))[:2] == [made.total.bound, made.total.observed]
    ax = drawn(pictures["groups"])
    assert len(ax.get_yticks()) == min(count, MOST_PARTS)
    observed = sorted((part.observed for part in made.parts.values()), reverse=True)
    happened = next(line for line in ax.lines if line.get_label() == "happened")
    assert happened.get_xdata().tolist() == observed[:MOST_PARTS]


def test_a_certificate_of_no_rounds():
    made = aw.Halving([[0, 1], [1, 1]]).certificate()
    drawn(made.pictures()["numbers"])


def test_long_names_are_cut_in_their_middle():
    assert short("a name") == "a name"
    assert short("the beginning of a name and its end", 20) == "the beginni...ts end"
    assert short("two\nlines") == "two lines"


def test_bars_without_a_value_are_lower():
    assert size_of([Bar("text", None, "")]) < size_of([Bar("text", 1.0, "")]) < size_of([Bar("text " * 40, 1.0, "")])


@pytest.mark.parametrize(("groups", "names"), [(["<n>", "s"], ["<n>", "s"]), ([1, "1"], ["1", "'1'"])])
def test_groups_are_named_as_they_are_read(groups, names):
    learner = aw.PerGroup(aw.MLpol(["a", "b"]))
    rounds = (groups * 5, [{"a": 1.0, "b": 2.0}] * 10, [1.0, 2.0] * 5)
    learner.learn_many(*rounds)
    table = learner.certificate(*rounds).pictures()["groups"].table()
    assert sorted(row[0] for row in table.rows) == sorted(names)
