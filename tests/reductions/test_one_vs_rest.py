"""One against the rest: the oracle, classes that begin on the way, the contract, and the sum of the bounds."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_multiclass
from afterwit.core.certificate import Basis, Certificate, Verdict
from afterwit.core.registry import learner_names
from afterwit.core.theorem import Theorem
from afterwit.errors import InputError, LabelError
from afterwit.reductions.one_vs_rest import SumOfBounds
from afterwit.storage import register
from afterwit.testing import check_learner

MIXED = ["cat", 7, None, (1, "b"), 2.5, frozenset({1}), b"x"]

# Every learner that can stand for a class.
BASES = [name for name in learner_names().values() if name != "Committee"]


def examples(seed, rows=40, width=4, classes=4):
    """Whole numbers, so that floating point is exact, and labels of every kind."""
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (rows, width))
    return X, [MIXED[k] for k in random.integers(0, classes, rows)]


def dicts(X):
    return [{f"f{j}": int(value) for j, value in enumerate(row) if value} for row in X]


# ---------------------------------------------------------------------- the contract


@pytest.mark.parametrize("name", BASES)
def test_every_binary_learner_can_stand_for_a_class(name, tmp_path):
    X, y = examples(3, rows=30)
    X = np.abs(X).astype(float)
    kind = getattr(aw, name)
    at_once, one_by_one = aw.OneVsRest(kind), aw.OneVsRest(kind())
    predicted = at_once.learn_many(X, y)
    assert predicted.tolist() == [one_by_one.learn_one(x, label) for x, label in zip(X, y, strict=True)]
    assert at_once == one_by_one
    assert at_once.predict_many(X).tolist() == [at_once.predict_one(x) for x in X]
    assert at_once.copy() == pickle.loads(pickle.dumps(at_once)) == at_once
    assert at_once.certificate(X, y).verdict is not Verdict.VIOLATED


def test_the_suite_as_a_whole():
    check_learner(partial(aw.OneVsRest, aw.Perceptron(rate=0.3), labels=(-1, 1)))


# ---------------------------------------------------------------------- the oracle


@given(st.integers(0, 2**32), st.integers(1, len(MIXED)), st.booleans(), st.sampled_from(["dense", "sparse", "dicts"]))
def test_it_is_the_oracle(seed, classes, announced, form):
    X, y = examples(seed, classes=classes)
    announced = MIXED if announced else None
    weights, predictions, changes, binary = naive_multiclass.one_vs_rest(dicts(X), y, announced)
    learner = aw.OneVsRest(labels=announced)
    many = {"dense": X, "sparse": sparse.csr_array(X), "dicts": dicts(X)}[form]
    assert learner.learn_many(many, y).tolist() == predictions
    assert learner.classes == tuple(weights)
    assert learner.rounds == len(y)
    assert learner.mistakes == sum(p != label for p, label in zip(predictions, y, strict=True))
    assert learner.updates == changes
    for label, each in learner.learners.items():
        assert each.mistakes == binary[label]
        assert each.labels == (-1, 1)
        found = each.weights if form == "dicts" else {f"f{j}": w for j, w in enumerate(each.weights)}
        assert {name: w for name, w in found.items() if w} == {name: w for name, w in weights[label].items() if w}


rows_of_dicts = st.lists(
    st.tuples(st.dictionaries(st.sampled_from("abcdefg"), st.floats(-1e3, 1e3), max_size=5), st.sampled_from(MIXED)),
    max_size=25,
)


@given(rows_of_dicts, st.integers(0, 25))
def test_many_rounds_are_the_loop_of_one_wherever_classes_begin(stream, cut):
    """Also the state of each binary learner, bit for bit, names in the order in which they came."""
    X, y = [x for x, _ in stream], [label for _, label in stream]
    one_by_one, at_once, in_parts = aw.OneVsRest(), aw.OneVsRest(), aw.OneVsRest()
    singly = [one_by_one.learn_one(x, label) for x, label in stream]
    assert at_once.learn_many(X, y).tolist() == singly
    in_parts.learn_many(X[:cut], y[:cut])
    in_parts.learn_many(X[cut:], y[cut:])
    assert at_once == one_by_one == in_parts
    if stream:
        assert at_once.score_many(X).tolist() == [list(at_once.score_one(x).values()) for x in X]
        assert at_once.predict_many(X).tolist() == [at_once.predict_one(x) for x in X]


@given(
    st.lists(
        st.tuples(st.dictionaries(st.integers(0, 30), st.floats(-9, 9), max_size=4), st.sampled_from(MIXED)),
        max_size=20,
    )
)
def test_rows_that_end_at_their_own_position(stream):
    """A class knows the positions of its own rounds only, one by one and all at once."""
    rows = [aw.SparseRow(np.array(list(x), dtype=np.int64), np.array(list(x.values()))) for x, _ in stream]
    y = [label for _, label in stream]
    one_by_one, at_once = aw.OneVsRest(), aw.OneVsRest()
    singly = [one_by_one.learn_one(x, label) for x, label in zip(rows, y, strict=True)]
    assert at_once.learn_many(rows, y).tolist() == singly
    assert at_once == one_by_one


def test_a_libsvm_file_in_blocks_and_in_rounds(tmp_path):
    random = np.random.default_rng(5)
    lines = [
        f"{random.integers(1, 6)} " + " ".join(f"{j}:{random.normal():.3f}" for j in range(0, random.integers(1, 90)))
        for _ in range(300)
    ]
    (tmp_path / "data").write_text("\n".join(lines))
    stream = aw.streams.LibsvmStream(tmp_path / "data")
    in_blocks, in_rounds = aw.OneVsRest(), aw.OneVsRest()
    record = aw.play(in_blocks, stream)
    assert record.mistakes == aw.play(in_rounds, list(stream)).mistakes == in_blocks.mistakes
    assert in_blocks == in_rounds


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_data_frames(frame):
    pytest.importorskip(frame)
    X, y = examples(8)
    y = [str(label) for label in y]
    names = [f"f{j}" for j in range(X.shape[1])]
    expected = aw.OneVsRest()
    singly = [
        expected.learn_one(dict(zip(names, x, strict=True)), label) for x, label in zip(X.tolist(), y, strict=True)
    ]
    if frame == "pandas":
        import pandas

        table, labels = pandas.DataFrame(X, columns=names), pandas.Series(y)
    elif frame == "polars":
        import polars

        table, labels = polars.DataFrame(X, schema=names), polars.Series(y)
    else:
        import pyarrow

        table, labels = pyarrow.table(dict(zip(names, X.T, strict=True))), pyarrow.array(y)
    learner = aw.OneVsRest()
    assert learner.learn_many(table, labels).tolist() == singly
    assert learner == expected


# ---------------------------------------------------------------------- classes and labels


def test_before_any_class_is_known():
    learner = aw.OneVsRest()
    assert learner.predict_one({"a": 1}) is None
    assert learner.predict_many([[1.0], [2.0]]).tolist() == [None, None]
    assert learner.score_one([1.0]) == {}
    assert learner.score_many([[1.0], [2.0]]).shape == (2, 0)
    assert learner.classes == ()
    assert learner.features == 0
    with pytest.raises(InputError, match=r"x\['a'\] must be a finite number"):
        learner.predict_one({"a": "x"})
    with pytest.raises(InputError, match=r"X\[1, 0\] must be a finite number"):
        learner.predict_many(np.array([[1.0], [np.nan]]))
    assert learner.learn_one({"a": 1}, "first") is None
    assert (learner.mistakes, learner.predict_one({})) == (1, "first")


def test_the_label_none_is_a_label_but_where_it_stands_for_no_label():
    learner = aw.OneVsRest()
    assert learner.learn_many([[1.0], [1.0]], [None, 3]).tolist() == [None, None]
    assert (learner.mistakes, learner.classes) == (1, (None, 3))
    # In a stream it says that an example has none.
    twin = aw.OneVsRest()
    record = aw.play(twin, [([1.0], None), ([1.0], 3)])
    assert (record.rounds, record.unlabelled, record.mistakes) == (1, 1, 1)
    assert twin.classes == (3,)


def test_ties_go_to_the_class_that_came_first():
    assert aw.OneVsRest(labels=("b", "a")).predict_one([1.0]) == "b"
    learner = aw.OneVsRest()
    learner.learn_many(np.eye(3), ["z", "y", "x"])
    assert learner.score_one([0.0, 0.0, 0.0]) == {"z": 0, "y": 0, "x": 0}
    assert learner.predict_one([0.0, 0.0, 0.0]) == "z"


def test_a_class_learns_from_its_first_round_on():
    learner = aw.OneVsRest()
    learner.learn_many(np.eye(4), ["a", "b", "a", "c"])
    assert {label: each.rounds for label, each in learner.learners.items()} == {"a": 4, "b": 3, "c": 1}


def test_labels_that_are_named():
    learner = aw.OneVsRest(labels=("a", "b", "c"))
    assert learner.classes == learner.labels == ("a", "b", "c")
    for call in (lambda: learner.learn_one([1.0], "d"), lambda: learner.learn_many([[1.0], [1.0]], ["a", "d"])):
        with pytest.raises(LabelError, match=r"must be one of \('a', 'b', 'c'\); received 'd'"):
            call()
    assert learner == aw.OneVsRest(labels=("a", "b", "c"))
    assert learner.learn_many([[1.0]], np.array(["c"])).tolist() == ["a"]
    assert {label: each.rounds for label, each in learner.learners.items()} == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize(
    "labels", [("a",), (), ("a", "a"), "ab", 3, {"a", "b"}, {"a": 1, "b": 2}, ([], "b"), (float("nan"), 1)]
)
def test_bad_labels_are_refused(labels):
    with pytest.raises(InputError, match="labels must be two or more different labels"):
        aw.OneVsRest(labels=labels)


@pytest.mark.parametrize("bad", [[1], float("nan"), {}])
def test_a_label_that_cannot_be_a_class_changes_nothing(bad):
    learner = aw.OneVsRest()
    learner.learn_one([1.0], "a")
    before = copy.deepcopy(learner)
    with pytest.raises(LabelError, match="y must be"):
        learner.learn_one([1.0], bad)
    with pytest.raises(LabelError, match=r"y\[1\] must be"):
        learner.learn_many([[1.0], [2.0]], ["new", bad])
    assert learner == before


def test_a_bad_row_changes_no_binary_learner():
    learner = aw.OneVsRest()
    learner.learn_many(np.eye(3), list("abc"))
    before = copy.deepcopy(learner)
    wide = np.zeros((2, 3))
    wide[1, 2] = np.inf
    for X, y in ((wide, ["a", "new"]), ([{"a": 1}], ["a"]), (np.eye(3), ["a"]), (np.eye(3)[0], ["a"])):
        with pytest.raises(InputError):
            learner.learn_many(X, y)
    for x in ([np.nan], {"a": 1}, "text", None):
        with pytest.raises(InputError):
            learner.learn_one(x, "new")
    assert learner == before


def test_numbers_stay_numbers():
    X, labels = np.eye(3), np.array([3, 1, 2])
    known = aw.OneVsRest(labels=(1, 2, 3))
    assert known.learn_many(X, labels).dtype == np.int64
    assert aw.OneVsRest(labels=(0.5, 1.5)).predict_many(X).dtype == np.float64
    assert aw.OneVsRest(labels=(1, "x")).predict_many(X).dtype == object
    unknown = aw.OneVsRest()
    assert unknown.learn_many(X, labels).tolist() == [None, 3, 3]
    assert unknown.classes == (3, 1, 2)
    assert all(type(label) is int for label in unknown.classes)
    assert unknown.predict_many(X).dtype == np.int64


# ---------------------------------------------------------------------- the base learner


def test_the_prototype_is_never_changed():
    base = aw.Perceptron(rate=0.5, labels=("no", "yes"))
    base.learn_one([1.0], "no")
    before = copy.deepcopy(base)
    learner = aw.OneVsRest(base)
    learner.learn_many(np.eye(3), [0, 1, 2])
    assert base == before
    assert learner.learners[0].rate == 0.5
    assert learner.learners[2].rounds == 1
    assert learner.parameters["learner"] == aw.Perceptron(rate=0.5, labels=(-1, 1))
    learner.parameters["learner"].learn_one([1.0], -1)
    learner.learners[0].learn_one([1.0], -1)
    assert learner.parameters["learner"].rounds == 0
    assert learner.learners[0].rounds == 3


def test_a_class_is_as_good_as_an_instance():
    one, other = aw.OneVsRest(aw.Perceptron), aw.OneVsRest(aw.Perceptron())
    for learner in (one, other):
        learner.learn_many(np.eye(3), [0, 1, 2])
    assert one == other


class NeedsAnArgument:
    def __init__(self, something):
        pass


@pytest.mark.parametrize("learner", [3, "perceptron", {}, NeedsAnArgument, aw.OneVsRest, aw.OneVsRest()], ids=str)
def test_a_base_that_is_no_binary_learner_is_refused(learner):
    with pytest.raises(InputError, match="learner must be a learner of two labels"):
        aw.OneVsRest(learner)


@register
class Foreign:
    """The contract and nothing else: no blocks, no engine, no theorem."""

    def __init__(self, labels=(-1, 1)):
        self.labels = labels
        self.updates = 0
        self.total = {}

    def score_one(self, x):
        x = x if isinstance(x, dict) else dict(enumerate(x))
        return float(sum(self.total.get(name, 0.0) * value for name, value in x.items()))

    def predict_one(self, x):
        return 1 if self.score_one(x) >= 0 else -1

    def learn_one(self, x, y):
        if self.predict_one(x) != y:
            self.updates += 1
            for name, value in (x if isinstance(x, dict) else dict(enumerate(x))).items():
                self.total[name] = self.total.get(name, 0.0) + y * value

    @property
    def parameters(self):
        return {"labels": self.labels}

    def state(self):
        return {"total": dict(self.total), "updates": self.updates}

    def restore(self, state):
        self.total, self.updates = dict(state["total"]), state["updates"]

    def copy(self):
        twin = type(self)(self.labels)
        twin.restore(self.state())
        return twin

    def __eq__(self, other):
        return self.parameters == other.parameters and self.state() == other.state()


def test_a_learner_from_elsewhere(tmp_path):
    X, y = examples(11)
    expected = aw.OneVsRest()
    learner = aw.OneVsRest(Foreign)
    assert learner.learn_many(X, y).tolist() == expected.learn_many(X, y).tolist()
    assert (learner.mistakes, learner.updates) == (expected.mistakes, expected.updates)
    assert learner.predict_many(X).tolist() == expected.predict_many(X).tolist()
    singly = aw.OneVsRest(Foreign)
    for x, label in zip(X, y, strict=True):
        singly.learn_one(x, label)
    assert singly.state() == learner.state()
    named = aw.OneVsRest(Foreign, labels=("u", "v"))
    named.learn_one({"a": 1.0}, "v")
    aw.save(named, tmp_path / "m")
    assert aw.load(tmp_path / "m").state() == named.state()
    certificate = named.certificate([{"a": 1.0}], ["v"])
    assert certificate.verdict is Verdict.NOT_APPLICABLE


# ---------------------------------------------------------------------- training


def test_training_to_convergence():
    random = np.random.default_rng(2)
    centres = np.array([[3, 0, 1], [-3, 0, 1], [0, 4, 1]])
    y = random.integers(0, 3, 90)
    X = centres[y] + random.uniform(-1, 1, (90, 3)) * [1, 1, 0]
    learner = aw.OneVsRest(labels=range(3))
    training = learner.fit(X, y)
    assert training.converged
    assert training.mistakes_per_pass[-1] == 0
    assert learner.rounds == 90 * training.passes
    assert learner.mistakes == training.mistakes
    again = aw.OneVsRest(labels=range(3))
    for _ in range(training.passes):
        again.learn_many(X, y)
    assert again == learner
    assert (learner.predict_many(X) == y).all()
    assert learner.certificate(X, y).verdict is Verdict.HOLDS
    capped = aw.OneVsRest().fit([[1.0], [1.0]], ["a", "b"], max_passes=4)
    assert (capped.converged, capped.passes) == (False, 4)
    with pytest.raises(InputError, match="max_passes must be"):
        learner.fit(X, y, max_passes=0)


# ---------------------------------------------------------------------- copying, saving


def test_labels_of_every_kind_come_back_from_a_file(tmp_path):
    for labels in (None, ("cat", 7, None, (1, "b"), 2.5)):
        learner = aw.OneVsRest(aw.Perceptron(rate=0.1, start={"a": 2.0}), labels)
        learner.learn_many([{"a": 1.0}, {"b": 2.0}, {"a": -1.0, "c": 0.5}], [7, None, (1, "b")])
        aw.save(learner, tmp_path / "m")
        again = aw.load(tmp_path / "m")
        assert again == learner
        assert [type(label) for label in again.classes] == [type(label) for label in learner.classes]
        assert again.learn_one({"c": 1.0}, 2.5) == learner.learn_one({"c": 1.0}, 2.5)
        assert again == learner


def test_a_base_that_cannot_be_saved_is_refused(tmp_path):
    class Mine(aw.Perceptron):
        pass

    with pytest.raises(InputError, match="learner must be one of"):
        aw.save(aw.OneVsRest(Mine), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"mistakes": 9},
        {"rounds": -1},
        {"classes": ["a", "a"]},
        {"classes": None},
        {"classes": ["a"]},
        {"learners": []},
    ],
    ids=repr,
)
def test_a_state_that_is_none_is_refused(change):
    learner = aw.OneVsRest()
    learner.learn_many(np.eye(2), ["a", "b"])
    before = learner.copy()
    with pytest.raises(InputError):
        learner.restore({**learner.state(), **change})
    assert learner == before


def test_its_repr_says_what_it_is():
    learner = aw.OneVsRest(aw.Perceptron(rate=2), labels=["a", "b"])
    learner.learn_one([1.0], "b")
    assert repr(learner) == "OneVsRest(learner=Perceptron(rate=2.0), labels=('a', 'b')): 1 round, 1 mistake"


# ---------------------------------------------------------------------- certificates


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.integers(2, 4), st.booleans(), st.integers(1, 3))
def test_the_certificate_is_the_sum_and_holds(seed, classes, announced, passes):
    X, y = examples(seed, rows=20, classes=classes)
    learner = aw.OneVsRest(labels=MIXED if announced else None)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.observed == learner.mistakes
    assert certificate.rounds == learner.rounds == 20 * passes
    bounds = []
    for label, each in learner.learners.items():
        signs = np.array([1 if label == other else -1 for other in y])
        begin = learner.rounds - each.rounds
        rounds = np.concatenate([X] * passes)[begin:], np.concatenate([signs] * passes)[begin:]
        own = each.certificate(*rounds)
        assert each.mistakes <= own.bound
        bounds.append(own.bound)
    extra = 0 if announced else len(learner.classes)
    assert certificate.bound == pytest.approx(sum(bounds) + extra, rel=1e-6)
    assert len(certificate.others) == len(learner.classes)
    # The step from the binary learners to all: mistakes <= binary mistakes + classes that began on the way.
    assert learner.mistakes <= sum(each.mistakes for each in learner.learners.values()) + extra


def test_a_class_that_nobody_named_costs_one_mistake_though_no_binary_learner_is_wrong():
    """The + 1 is needed: here the mistakes are exactly the classes that began on the way."""
    learner = aw.OneVsRest(labels=None)
    learner.learn_one({}, "only")
    assert learner.mistakes == 1
    assert sum(each.mistakes for each in learner.learners.values()) == 0
    certificate = learner.certificate([{}], ["only"])
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.inputs["classes not named beforehand"] == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, dicts])
def test_a_certificate_of_every_form_of_examples(form):
    X, y = examples(4)
    learner = aw.OneVsRest()
    learner.learn_many(form(X), y)
    learner.learn_many(form(X), y)
    certificate = learner.certificate(form(X), y)
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.hindsight.value % 2 == 0
    assert "'cat' against the rest" in certificate.details()


def test_other_rounds_get_no_certificate():
    X, y = examples(6)
    learner = aw.OneVsRest()
    learner.learn_many(X, y)
    for other in ((X[:-1], y[:-1]), (X[::-1], y[::-1]), (X, [y[0], *y[:-1]]), (2 * X + 1, y)):
        certificate = learner.certificate(*other)
        assert certificate.verdict is Verdict.NOT_APPLICABLE
        assert certificate.bound is None
    with pytest.raises(LabelError):
        aw.OneVsRest(labels=("a", "b")).certificate(X, y)


def test_weights_that_were_tampered_with_get_no_certificate():
    X, y = examples(6)
    learner = aw.OneVsRest()
    learner.learn_many(X, y)
    state = learner.state()
    state["learners"][1]["weights"] = state["learners"][1]["weights"] * 2
    learner.restore(state)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    why = "no bound applies to the binary learner of class (1, 'b'): these rows give other weights"
    assert certificate.why_not() == [why]


class AboutUpdates(Theorem):
    name = "a theorem about something else"
    statement = citation = "none"
    quantity = "updates"

    def certify(self, evidence):
        return evidence.certificate(self, 10**6, {})


@register
class BoundsUpdates(aw.Perceptron):
    theorems = (AboutUpdates(),)


@register
class BoundsNothing(aw.Perceptron):
    theorems = ()
    no_theorem_because = "nobody has proved one"


@pytest.mark.parametrize(
    ("base", "why"),
    [
        (BoundsUpdates, "its theorems are about updates"),
        (BoundsNothing, "nobody has proved one"),
        (aw.Perceptron(start=[1.0, 0, 0, 0]), "another start"),
    ],
    ids=["updates", "nothing", "start"],
)
def test_without_a_bound_on_binary_mistakes_the_theorem_does_not_apply(base, why):
    X, y = examples(9)
    learner = aw.OneVsRest(base)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert why in certificate.failed[0].detail
    first = "no bound applies to the binary learner of class 7, nor to those of 3 other classes: "
    assert certificate.failed[0].detail.startswith(first)


@register
class Contrary(aw.Perceptron):
    """Counts and bounds its mistakes as a perceptron does, and says the opposite of its score now and then."""

    def learn_many(self, X, y):
        said = super().learn_many(X, y)
        said[-1] = -said[-1]
        return said


class Everything(AboutUpdates):
    quantity = "mistakes"


@register
class ForeignWithBound(Foreign):
    theorems = (Everything(),)
    strays = False

    def predict_one(self, x):
        return -1 if self.score_one(x) <= (0 if self.strays else -1e-300) else 1

    def certificate(self, X, y):
        return Certificate(self.theorems[0], "a learner from elsewhere", len(y), 0, 1000, ())


@register
class ForeignAndStraying(ForeignWithBound):
    strays = True


@pytest.mark.parametrize(
    ("base", "strays"),
    [(aw.Perceptron, False), (Contrary, True), (ForeignWithBound, False), (ForeignAndStraying, True)],
)
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("announced", [True, False])
def test_that_a_base_predicts_by_its_sign_is_looked_at(base, strays, passes, announced):
    """Without it the sum of the binary bounds says nothing, whatever the base learner is."""
    X, y = examples(8)
    learner = aw.OneVsRest(base, labels=sorted(set(y), key=repr) if announced else None)
    for _ in range(passes):
        learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    by_sign = next(each for each in certificate.assumptions if "exactly if its score is >= 0" in each.statement)
    assert (by_sign.basis, by_sign.holds) == (Basis.OBSERVED, not strays)
    assert (certificate.verdict is Verdict.HOLDS) is not strays
    if strays:
        assert "does not predict by the sign of its score" in certificate.line()


@register
class ForeignAndTired(ForeignWithBound):
    """Strays from the sign of its score after a number of rounds."""

    enough = 0

    def __init__(self, labels=(-1, 1)):
        super().__init__(labels)
        self.rounds = 0

    def predict_one(self, x):
        said = super().predict_one(x)
        return -said if self.rounds >= self.enough else said

    def learn_one(self, x, y):
        super().learn_one(x, y)
        self.rounds += 1


@pytest.mark.parametrize("passes", [1, 2])
def test_the_rounds_that_are_looked_at_are_those_that_were_played(passes, monkeypatch):
    """A class that begins with row 2 has played two rounds fewer, and no round is played twice."""
    X, y = [[1.0], [-1.0], [2.0], [0.5]], ["a", "a", "b", "a"]
    learner = aw.OneVsRest(ForeignAndTired)
    monkeypatch.setattr(ForeignAndTired, "enough", 100)
    for _ in range(passes):
        learner.learn_many(X, y)
    for enough, strays in ((4 * passes, False), (4 * passes - 1, True)):
        monkeypatch.setattr(ForeignAndTired, "enough", enough)
        assert ("does not predict by the sign" in learner.certificate(X, y).line()) is strays


def test_the_theorem_says_what_it_is():
    assert SumOfBounds.bound([3.5, 2.5], 2) == 8
    assert aw.OneVsRest.theorems == (SumOfBounds(),)


def test_threads_may_share_it():
    from concurrent.futures import ThreadPoolExecutor

    learner = aw.OneVsRest()
    X, y = examples(1, rows=50)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: (learner.learn_many(X, y), learner.predict_many(X)), range(20)))
    assert learner.rounds == 1000
    assert sum(each.rounds for each in learner.learners.values()) <= 1000 * len(learner.classes)
