"""PerGroup is a dict of learners: what it predicts, learns, refuses, saves and certifies."""

import copy
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import afterwit as aw
from afterwit.core.certificate import Verdict, shown_number
from afterwit.core.declared import Option
from afterwit.core.learner import Storable
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError
from afterwit.reductions._group_certificates import GroupCertificates

NAMES = ["low", "fair", "high"]
FORECASTERS = [
    aw.MLpol(NAMES),
    aw.BOA(NAMES, loss="pinball(0.3)"),
    aw.AdaHedge(NAMES, loss="absolute"),
    aw.ExponentialWeights(NAMES, loss_range=(0, 1e6)),
    aw.FixedShare(NAMES, share=0.1, rate=0.01, loss_range=(0, 1e6)),
]
OTHERS = [
    aw.Perceptron(labels=(-1, 1)),
    aw.AdaGrad(labels=(-1, 1)),
    aw.Committee(labels=(-1, 1)),
    aw.MulticlassPerceptron(),
    aw.SelectivePerceptron(labels=(-1, 1)),
]


def of_forecasts(seed=0, rounds=60, groups=("north", "south", "east")):
    generator = np.random.default_rng(seed)
    group = generator.choice(groups, rounds)
    y = 10 * generator.random(rounds) + 5 * (group == groups[0])
    return group, y[:, np.newaxis] + generator.normal([0, 1, -1], [1, 1, 2], (rounds, 3)), y


def of_labels(seed=0, rounds=60):
    group, X, _ = of_forecasts(seed, rounds)
    return group, X, np.where(X[:, 0] > 5, 1, -1)


def slowly(template, groups, X, y):
    """A dict of learners, one round after the other."""
    learners, said = {}, []
    for group, x, outcome in zip(groups, X, y, strict=True):
        if group not in learners:
            learners[group] = type(template)(**template.parameters)
        said.append(learners[group].learn_one(x, outcome))
    return learners, said


@pytest.mark.parametrize("template", [*FORECASTERS, *OTHERS], ids=lambda each: type(each).__name__)
def test_it_is_a_dict_of_learners(template):
    groups, X, y = of_forecasts() if template in FORECASTERS else of_labels()
    before = template.copy()
    learners, said = slowly(template, groups, X, y)
    learner = aw.PerGroup(template)
    assert learner.learn_many(groups, X, y).tolist() == said
    assert learner.groups == tuple(learners)
    assert (len(learner), list(learner), learner.rounds) == (3, list(learners), 60)
    assert all(learner[group] == learners[group] for group in learners)
    one = aw.PerGroup(template)
    assert [one.learn_one(g, x, out) for g, x, out in zip(groups, X, y, strict=True)] == said
    assert one == learner
    expected = [learners[group].predict_one(x) for group, x in zip(groups, X, strict=True)]
    assert learner.predict_many(groups, X).tolist() == expected
    assert [learner.predict_one(group, x) for group, x in zip(groups, X, strict=True)] == expected
    assert template == before


@given(st.data())
def test_any_mixture_of_calls_is_the_same_loop(data):
    groups, X, y = of_forecasts(data.draw(st.integers(0, 9)), 24)
    groups = groups[data.draw(st.permutations(range(24)))]
    ends = sorted(data.draw(st.sets(st.integers(1, 23), max_size=6)))
    learner, said = aw.PerGroup(aw.MLpol(NAMES)), []
    for begin, end in zip([0, *ends], [*ends, 24], strict=True):
        if end - begin == 1:
            said.append(learner.learn_one(groups[begin], X[begin], y[begin]))
        else:
            said += learner.learn_many(groups[begin:end], X[begin:end], y[begin:end]).tolist()
        learner.predict_many(["new", groups[0]], X[:2])
        if data.draw(st.booleans()):
            learner = pickle.loads(pickle.dumps(learner))
    learners, expected = slowly(aw.MLpol(NAMES), groups, X, y)
    assert said == expected
    assert all(learner[group] == learners[group] for group in learners)
    assert learner.groups == tuple(learners)


@pytest.mark.parametrize(
    "form",
    [
        lambda X: X,
        lambda X: np.asfortranarray(X),
        lambda X: X.tolist(),
        lambda X: [dict(zip(NAMES, row, strict=True)) for row in X.tolist()],
        lambda X: pd.DataFrame(X, columns=NAMES, index=range(7, 7 + len(X))),
        lambda X: pd.DataFrame(X, columns=NAMES)[NAMES[::-1]],
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table(pd.DataFrame(X, columns=NAMES)),
    ],
)
@pytest.mark.parametrize("column", [np.asarray, list, pd.Series, pl.Series, lambda values: pa.array(values.tolist())])
def test_rows_come_in_any_form(form, column):
    groups, X, y = of_forecasts()
    X[5, 1] = np.nan
    learner = aw.PerGroup(aw.MLpol(NAMES))
    said = learner.learn_many(groups, X, y)
    other = aw.PerGroup(aw.MLpol(NAMES))
    assert other.learn_many(column(groups), form(X), column(y)).tolist() == said.tolist()
    assert other == learner
    assert other.predict_many(column(groups), form(X)).tolist() == learner.predict_many(groups, X).tolist()


@pytest.mark.parametrize("form", [csr_array, lambda X: csr_array(X).tocsc(), pd.DataFrame, aw.streams.as_ids])
def test_examples_of_classifiers_come_in_any_form(form):
    groups, X, y = of_labels()
    X[np.abs(X) < 2] = 0.0
    given = form(X, 1) if form is aw.streams.as_ids else form(X)
    learner = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
    said = learner.learn_many(groups, given, y)
    assert said.tolist() == slowly(aw.Perceptron(labels=(-1, 1)), groups, X, y)[1]
    assert learner.mistakes == np.count_nonzero(said != y)
    if form is csr_array:
        expected = [learner[group].predict_many(given[[i]])[0] for i, group in enumerate(groups)]
        assert learner.predict_many(groups, given).tolist() == expected


def test_labels_are_decided_for_all_groups_by_the_first():
    """A group that has only seen the label 1 knows nevertheless that the other one is 0."""
    learner = aw.PerGroup(aw.Perceptron)
    learner.learn_many(["a", "a", "b"], [[1.0], [2.0], [-3.0]], [1, 1, 0])
    assert learner["a"].labels == learner["b"].labels == learner.learner.labels == (0, 1)
    learner.learn_one("a", [-1.0], 0)
    learner.learn_one("c", [1.0], 1)
    assert learner.predict_one("d", [1.0]) in (0, 1)
    assert learner["c"].labels == (0, 1)
    one = aw.PerGroup(aw.Perceptron())
    one.learn_one("a", [1.0], False)
    assert one["a"].labels == (False, True)
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_new_group_is_predicted_by_a_fresh_learner():
    groups, X, y = of_forecasts()
    learner = aw.PerGroup(aw.MLpol(NAMES))
    learner.learn_many(groups, X, y)
    before = learner.copy()
    assert learner.predict_one("west", X[0]) == pytest.approx(X[0].mean(), rel=1e-15)
    assert learner.predict_many(["west", "north"], X[:2]).tolist() == [
        aw.MLpol(NAMES).predict_one(X[0]),
        learner["north"].predict_one(X[1]),
    ]
    assert "west" not in learner
    assert learner == before


def test_names_of_groups():
    learner = aw.PerGroup(aw.MLpol(1))
    for group in ("a", 3, (1, "b"), "t", np.int64(7), np.str_("s"), 2.5):
        learner.learn_one(group, [1.0], 1.0)
    assert learner.groups == ("a", 3, (1, "b"), "t", 7, "s", 2.5)
    assert [type(group) for group in learner.groups[4:6]] == [int, str]
    assert 7 in learner
    assert ["list"] not in learner


def test_numbers_and_strings_that_are_predicted_stay_what_they_are():
    learner = aw.PerGroup(aw.MulticlassPerceptron())
    learner.learn_many(["a", "b"], [[1.0], [1.0]], ["ham", 5])
    assert learner.predict_many(["b", "a"], [[1.0], [1.0]]).tolist() == [5, "ham"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: X.__setitem__(17, np.nan), "group 'south', row 17: advice must be from at least one expert"),
        (lambda X, y: X.__setitem__((18, 2), np.inf), "group 'east', row 18: advice['high'] must be a finite number"),
        (lambda X, y: y.__setitem__(16, np.inf), "group 'north', row 16: outcome must be a finite number"),
    ],
)
def test_a_round_that_is_refused_is_named_and_nothing_is_learned(change, message):
    _, X, y = of_forecasts()
    groups = ["north", "south", "east"] * 20
    groups[16], groups[17], groups[18] = "north", "south", "east"
    learner = aw.PerGroup(aw.MLpol(NAMES))
    learner.learn_many(groups[:10], X[:10], y[:10])
    groups += ["new"]
    X, y = np.vstack([X, X[:1]]), np.append(y, y[0])
    before = learner.copy()
    change(X, y)
    with pytest.raises(InputError) as caught:
        learner.learn_many(groups, X, y)
    assert str(caught.value).startswith(message)
    assert learner == before
    assert learner.groups == ("north", "south", "east")


def test_a_learner_that_diverges_takes_no_group_with_it():
    learner = aw.PerGroup(aw.SGDRegressor(rate=1.0, intercept=False))
    learner.learn_many(["a", "b"], [[1.0], [1.0]], [1.0, 1.0])
    before = learner.copy()
    rows = [[1.0], [1.0], [1e200], [1e200]]
    with pytest.raises(DivergenceError, match=r"^group 'b', row \d: "):
        learner.learn_many(["a", "b", "b", "b"], rows, [2.0, 2.0, 1e200, -1e200])
    assert learner == before


def test_what_is_refused_before_a_prediction():
    learner = aw.PerGroup(aw.MLpol(NAMES))
    groups, X, _ = of_forecasts()
    X[3] = np.nan
    with pytest.raises(InputError, match=f"^group '{groups[3]}', row 3: advice must be"):
        learner.predict_many(groups, X)
    with pytest.raises(InputError, match=r"^group 'a': advice must be one number for each of the 3 experts"):
        learner.learn_one("a", [1.0], 1.0)
    assert learner.groups == ()


class Interrupting(Storable):
    """A learner that is interrupted in its second block."""

    options = (Option("calls", 0),)

    def _begin(self):
        self.learned = 0

    rounds = property(lambda self: self.learned)

    def state(self):
        return {"learned": self.learned}

    def restore(self, state):
        self.learned = state["learned"]

    def predict_one(self, x):
        return 0

    def predict_many(self, X):
        return [0] * len(X)

    def learn_one(self, x, y):
        self.learned += 1
        return 0

    def learn_many(self, X, y):
        self.learned += len(X)
        if y[-1] < 0:
            raise KeyboardInterrupt
        return [0] * len(X)


def test_whatever_stops_a_block_undoes_it_for_all_groups():
    learner = aw.PerGroup(Interrupting())
    learner.learn_many(["a", "b"], [1, 2], [1, 1])
    with pytest.raises(KeyboardInterrupt):
        learner.learn_many(["a", "b", "c"], [1, 2, 3], [1, -1, 1])
    assert {group: learner[group].rounds for group in learner} == {"a": 1, "b": 1}
    with pytest.raises(InputError, match=r"^Interrupting has no certificate"):
        learner.certificate(["a", "b"], [1, 2], [1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: aw.PerGroup("mlpol"), "learner must be a learner, with learn_one"),
        (lambda p: aw.PerGroup(p), "learner must be a learner, with learn_one"),
        (lambda p: aw.PerGroup(aw.MLpol), "a class must need no arguments"),
        (lambda p: p.learn_many(["a"], [[1.0], [2.0]], [1.0, 2.0]), "groups must be as long as X (2 rows); received 1"),
        (lambda p: p.learn_many(["a", "a"], [[1.0], [2.0]], [1.0]), "y must be as long as X (2 rows); received 1"),
        (lambda p: p.learn_many("ab", [[1.0], [2.0]], [1.0, 2.0]), "groups must be a sequence or a 1-D array"),
        (lambda p: p.learn_many(np.ones((2, 2)), [[1.0], [2.0]], [1.0, 2.0]), "received an array of shape (2, 2)"),
        (lambda p: p.predict_many(7, [[1.0]]), "groups must be a sequence or a 1-D array"),
        (lambda p: p.predict_many(["a"], 7), "X must be a 2-D array"),
        (lambda p: p.predict_many(["a"], "x"), "X must be a 2-D array"),
        (lambda p: p.predict_many(["a"], np.float64(1)), "X must be a 2-D array"),
        (lambda p: p.learn_many(["a", None], [[1.0], [2.0]], [1.0, 2.0]), "groups[1] must be a name that equals"),
        (lambda p: p.learn_many(["a", pd.NA], [[1.0], [2.0]], [1.0, 2.0]), "groups[1] must be a name that equals"),
        (lambda p: p.learn_one(math.nan, [1.0], 2.0), "group must be a name that equals itself"),
        (lambda p: p.predict_one(["a"], [1.0]), "group must be a name that equals itself"),
        (lambda p: p["b"], "group must be one that has learned a round: 'a'; received 'b'"),
        (lambda p: p.certificate(["b"], [[1.0]], [1.0]), "groups must be those of the rounds it has learned; received"),
        (lambda p: aw.PerGroup(aw.MLpol(1)).certificate(), "it has not learned any round"),
        (lambda p: p.certificate(["a"] * 2, [[1.0]] * 2, [1.0] * 2), "group 'a': the rounds given must be the rounds"),
        (lambda p: p.restore({"groups": ["a", "a"], "learners": []}), "groups must be a list of different names"),
        (lambda p: p.restore({"groups": [None], "learners": [{}]}), "groups[0] must be a name"),
        (lambda p: p.restore({"groups": ["a"], "learners": []}), "learners must be one state for each of 1 group"),
        (lambda p: p.restore({"groups": ["a"], "learners": [5]}), "state must be what state() of MLpol returns"),
        (lambda p: p.restore({"groups": ["a"]}), "a dict without 'learners'"),
    ],
)
def test_mistakes_are_one_sentence_and_change_nothing(call, message):
    learner = aw.PerGroup(aw.MLpol(1))
    learner.learn_one("a", [1.0], 1.5)
    before = learner.copy()
    with pytest.raises(InputError) as caught:
        call(learner)
    assert message in str(caught.value)
    assert learner == before


def test_it_is_saved_and_copied_like_a_learner(tmp_path):
    groups, X, y = of_forecasts()
    learner = aw.PerGroup(aw.MLpol(NAMES, loss="absolute"))
    fresh = learner.clone()
    learner.learn_many(groups, X, y)
    aw.save(learner, tmp_path / "m")
    for again in (aw.load(tmp_path / "m"), pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner), learner.copy()):
        assert again == learner
        assert again.groups == learner.groups
        again.learn_one("north", X[0], y[0])
        assert again != learner
    assert learner.clone() == fresh
    assert learner.learner == aw.MLpol(NAMES, loss="absolute")
    assert repr(learner) == "PerGroup(learner=MLpol): 3 groups, 60 rounds"
    taken = learner["north"]
    taken.learn_one(X[0], y[0])
    assert taken != learner["north"]
    assert not hasattr(aw.PerGroup, "role")
    assert bool(fresh)


# ---------------------------------------------------------------------- certificates


@pytest.mark.parametrize("with_rounds", [True, False])
def test_the_total_is_the_sum(with_rounds):
    groups, X, y = of_forecasts(rounds=200)
    learner = aw.PerGroup(aw.MLpol(NAMES))
    learner.learn_many(groups, X, y)
    certificates = learner.certificate(groups, X, y) if with_rounds else learner.certificate()
    assert list(certificates) == list(learner.groups)
    for group in learner:
        mine = groups == group
        alone = learner[group].certificate(*((X[mine], y[mine]) if with_rounds else ()))
        assert certificates[group].to_dict() == alone.to_dict()
    total = certificates.total
    assert total.observed == math.fsum(each.observed for each in certificates.values())
    assert total.bound == math.fsum(each.bound for each in certificates.values())
    assert total.hindsight.value == math.fsum(each.hindsight.value for each in certificates.values())
    assert (total.quantity, total.rounds, total.verdict) == ("regret", 200, Verdict.HOLDS)
    regrets = {group: each.observed for group, each in certificates.items()}
    assert certificates.worst == max(regrets, key=regrets.get)
    assert str(certificates).startswith("PerGroup(MLpol), 3 groups, 200 rounds\n  bound      regret at most ")
    assert f"\n  worst      group {certificates.worst!r}: regret " in str(certificates)
    assert f"; ours was {shown_number(sum(learner[g].loss for g in learner))}" in str(certificates)
    data = json.loads(json.dumps(certificates.to_dict(), allow_nan=False))
    assert [each["group"] for each in data["groups"]] == list(learner.groups)
    assert (data["total"]["bound"], data["worst"]) == (total.bound, certificates.worst)
    assert all(f"\n\ngroup {group!r}: MLpol, " in certificates.details() for group in learner)
    assert pickle.loads(pickle.dumps(certificates)).total == total


@pytest.mark.parametrize("template", [aw.Perceptron(), aw.Committee(), aw.SGD()], ids=lambda each: type(each).__name__)
def test_classifiers_have_a_sum_of_their_own_quantity(template):
    groups, X, y = of_labels()
    learner = aw.PerGroup(template)
    learner.learn_many(groups, X, y)
    total = learner.certificate(groups, X, y).total
    if total.quantity == "mistakes":
        assert total.observed == learner.mistakes
    assert total.verdict is Verdict.HOLDS
    assert "every group's theorem applies to its rounds" in total.details()


def test_a_promise_before_the_first_round_is_one_of_the_sum():
    groups, X, y = of_forecasts(groups=("a", "b"))
    learner = aw.PerGroup(aw.ExponentialWeights(NAMES, loss="absolute", loss_range=(0, 20), horizon=60))
    learner.learn_many(groups, X, y)
    certificates = learner.certificate(groups, X, y)
    assert certificates.total.theorem.beforehand
    assert "  promised   regret at most " in str(certificates)
    lengths = [certificates[group].rounds for group in certificates]
    assert all(length == np.count_nonzero(groups == g) for g, length in zip(certificates, lengths, strict=True))


def test_where_one_theorem_does_not_apply_there_is_no_sum():
    """MarginPerceptron promises nothing for examples that are not separable."""
    learner = aw.PerGroup(aw.MarginPerceptron(margin=0.1, labels=(-1, 1)))
    groups, X, y = ["a", "a", "b", "b"], [[1.0], [-1.0], [1.0], [1.0]], [1, -1, 1, -1]
    learner.learn_many(groups, X, y)
    certificates = learner.certificate(groups, X, y)
    assert certificates["a"].verdict is Verdict.HOLDS
    assert certificates["b"].verdict is Verdict.NOT_APPLICABLE
    assert certificates.total.verdict is certificates.verdict is Verdict.NOT_APPLICABLE
    assert certificates.total.bound is None
    assert "  because    group 'b': " in str(certificates)
    assert certificates.total.observed == sum(each.observed for each in certificates.values())


def test_a_group_that_breaks_its_bound_is_not_hidden_by_the_others():
    groups, X, y = of_forecasts(rounds=100)
    learner = aw.PerGroup(aw.MLpol(NAMES))
    learner.learn_many(groups, X, y)
    found = dict(learner.certificate(groups, X, y))
    broken = copy.copy(found["north"])
    object.__setattr__(broken, "observed", broken.bound + 1)
    certificates = GroupCertificates("PerGroup(MLpol)", {**found, "north": broken})
    assert certificates.total.verdict is Verdict.HOLDS
    assert certificates.verdict is Verdict.VIOLATED
    assert certificates.worst == "north"


def test_the_rounding_of_the_sum_is_that_of_its_parts():
    """Each group is above its bound by less than rounding explains; then so is the sum."""
    groups, X, y = of_forecasts(rounds=100)
    learner = aw.PerGroup(aw.MLpol(NAMES))
    learner.learn_many(groups, X, y)
    found = dict(learner.certificate(groups, X, y))
    for each in found.values():
        object.__setattr__(each, "observed", each.bound + 0.9 * each.rounding)
    certificates = GroupCertificates("PerGroup(MLpol)", found)
    assert certificates.total.observed > certificates.total.bound
    assert certificates.verdict is Verdict.HOLDS
    for each in found.values():
        object.__setattr__(each, "observed", each.bound + 3 * each.rounding)
    assert certificates.total.verdict is certificates.verdict is Verdict.VIOLATED


@given(st.integers(0, 10**6), st.sampled_from([1e-12, 1e-3, 1.0, 1e6, 1e12]), st.integers(1, 12))
def test_no_sequence_breaks_the_sum(seed, scale, groups):
    """Against adversaries: in each group it is always the heaviest expert that is wrong, at scales of its own."""
    generator = np.random.default_rng(seed)
    learner = aw.PerGroup(aw.MLpol(3, loss="absolute"))
    names, advice, outcomes = [], [], []
    for _ in range(40):
        group = int(generator.integers(groups))
        size = scale * 10.0 ** (group % 3)
        weights = learner[group].weights if group in learner else np.ones(3) / 3
        forecasts = size * np.where(np.arange(3) == np.argmax(weights), 1.0, generator.integers(0, 2, 3))
        learner.learn_one(group, forecasts, 0.0)
        names.append(group)
        advice.append(forecasts)
        outcomes.append(0.0)
    for certificates in (learner.certificate(), learner.certificate(names, np.array(advice), outcomes)):
        assert certificates.verdict is Verdict.HOLDS
        assert certificates.total.observed <= certificates.total.bound + certificates.total.rounding


def test_bounds_on_average_are_added_and_bounds_with_some_probability_are_not():
    groups, X, y = of_labels()
    learner = aw.PerGroup(aw.SelectivePerceptron(labels=(-1, 1)))
    learner.learn_many(groups, X, y)
    certificates = learner.certificate(groups, X, y)
    assert certificates.total.theorem.chance == "on average over the learner's own draws"
    theorem = copy.copy(certificates["north"].theorem)
    theorem.chance = "with probability 95%"
    uncertain = copy.copy(certificates["north"])
    object.__setattr__(uncertain, "theorem", theorem)
    total = GroupCertificates("PerGroup", {**certificates, "north": uncertain}).total
    assert total.verdict is Verdict.NOT_APPLICABLE
    assert "bounds that hold with probability 95% are not added up" in str(total)


def test_certificates_that_a_learner_has_only_with_its_rounds():
    groups, X, y = of_labels()
    learner = aw.PerGroup(aw.Perceptron())
    learner.learn_many(groups, X, y)
    with pytest.raises(InputError, match="the certificate of Perceptron needs its rounds"):
        learner.certificate()
    without = aw.PerGroup(aw.NormalizedAdaGrad())
    without.learn_many(groups, X, y)
    with pytest.raises(InputError, match=r"^NormalizedAdaGrad has no certificate: "):
        without.certificate(groups, X, y)


def test_intervals_are_those_of_each_group():
    generator = np.random.default_rng(8)
    groups = generator.choice(["a", "b", "c"], 60)
    X, y = generator.random((60, 3)), generator.random(60)
    learner = aw.PerGroup(aw.ConformalIntervals(aw.MLpol(3), 0.8))
    forecasts, intervals = learner.learn_intervals(groups, X, y)
    for group in "abc":
        alone = aw.ConformalIntervals(aw.MLpol(3), 0.8)
        rows = groups == group
        made = alone.learn_intervals(X[rows], y[rows])
        assert forecasts[rows].tolist() == made[0].tolist()
        assert intervals[rows].tolist() == made[1].tolist()
        assert learner[group] == alone
        assert learner.interval_one(group, X[0]) == alone.interval_one(X[0])
    again = learner.interval_many(groups, X)
    assert again.tolist() == [list(learner.interval_one(group, x)) for group, x in zip(groups, X, strict=True)]
    assert learner.interval_one("new", X[0]) == (-np.inf, np.inf)
    before = learner.state()
    with pytest.raises(InputError, match="group 'b', row 1: advice"):
        learner.learn_intervals(["a", "b"], [[0.1, 0.2, 0.3], [np.inf, 0.2, 0.3]], [0.5, 0.5])
    assert same_value(learner.state(), before)
    assert [part.shape for part in learner.learn_intervals([], np.empty((0, 3)), [])] == [(0,), (0, 2)]
    plain = aw.PerGroup(aw.MLpol(3))
    for call, arguments in ((plain.interval_one, ("a", X[0])), (plain.interval_many, (groups, X))):
        with pytest.raises(InputError, match=r"MLpol has no intervals; PerGroup\(ConformalIntervals\(MLpol"):
            call(*arguments)
