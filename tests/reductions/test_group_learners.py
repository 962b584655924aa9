"""Groups that are asleep: what PerGroup does is the same however few learners are awake, and so is what is saved."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import afterwit as aw
from afterwit.core.packed import CannotPackError, joined_tables, pack, packed_in, size_of, table_of, unpack
from afterwit.core.storage import register
from afterwit.data.values import same_value
from afterwit.errors import DivergenceError, InputError
from afterwit.reductions import _group_learners, per_group

KINDS = [
    aw.Perceptron(labels=(-1, 1)),
    aw.AdaGrad(labels=(-1, 1)),
    aw.AveragedPerceptron(labels=(-1, 1)),
    aw.KernelPerceptron(aw.kernels.gaussian(), labels=(-1, 1)),
    aw.Committee(labels=(-1, 1)),
    aw.OneVsRest(aw.Perceptron()),
    aw.MulticlassPerceptron(),
    aw.OnlineRidge(),
    aw.MLpol(["a", "b", "c"]),
    aw.BOA(["a", "b", "c"]),
    aw.RandomizedWeightedMajority(["a", "b", "c"], beta=0.5, seed=3),
]


@pytest.fixture(params=[0, 1, 3])
def awake(monkeypatch, request):
    """Very few learners are awake."""
    for module in (_group_learners, per_group):
        monkeypatch.setattr(module, "AWAKE", request.param)
    return request.param


def rounds(template, seed=0, count=60):
    random = np.random.default_rng(seed)
    X = random.choice([0.0, 1.0, -1.5, 1e-9], (count, 3))
    if type(template).__name__ == "RandomizedWeightedMajority":
        X = random.choice([-1, 1], (count, 3))
    numbers = getattr(template, "role", "") == "regressor" or type(template).__name__ in ("MLpol", "BOA")
    y = random.standard_normal(count) if numbers else random.choice([-1, 1], count)
    return [f"g{k}" for k in random.integers(0, 6, count)], X, y


@pytest.mark.parametrize("template", KINDS, ids=lambda each: type(each).__name__)
def test_whoever_sleeps_it_is_a_dict_of_learners(template, awake):
    names, X, y = rounds(template)
    wanted = {}
    for name, x, outcome in zip(names, X, y, strict=True):
        wanted.setdefault(name, type(template)(**template.parameters)).learn_one(x, outcome)
    one, many = aw.PerGroup(template), aw.PerGroup(template)
    for name, x, outcome in zip(names, X, y, strict=True):
        one.predict_one(name, x)
        one.learn_one(name, x, outcome)
    for begin in range(0, len(names), 25):
        part = slice(begin, begin + 25)
        many.predict_many(names[part], X[part])
        many.learn_many(names[part], X[part], y[part])
    assert one == many
    for found in (one, many, many.copy()):
        assert found.groups == tuple(wanted)
        assert all(found[name] == learner for name, learner in wanted.items())
        assert found.rounds == len(names)


def test_a_refused_block_changes_nobody(awake):
    learner = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
    names = [f"g{i % 5}" for i in range(30)]
    learner.learn_many(names, np.eye(5)[np.arange(30) % 5], np.tile([1, -1], 15))
    before = learner.copy()
    X = np.ones((30, 5))
    X[28:] = 1.7e308
    with pytest.raises((DivergenceError, InputError), match=r"group 'g[34]', row 2[89]"):
        learner.learn_many([*names[:28], "g3", "g4"], X, np.tile([1, -1], 15))
    assert learner == before


def test_it_is_saved_as_one_table(awake, tmp_path):
    learner = aw.PerGroup(aw.AdaGrad(labels=(-1, 1)))
    names, X, y = rounds(learner.parameters["learner"], count=400)
    learner.learn_many([f"{name}{i % 50}" for i, name in enumerate(names)], X, y)
    aw.save(learner, tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive:
        # Two arrays are those of the fresh learner, and two those of all groups.
        assert len(archive.namelist()) == 5
        assert len(json.loads(archive.read("learner.json"))["state"]["$dict"][1][1]) == 1
    found = aw.load(tmp_path / "m")
    assert found == learner
    aw.save(found, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_models_with_a_list_of_states_are_read(tmp_path):
    learner = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
    learner.learn_many(["a", "b"] * 5, np.eye(2)[[0, 1] * 5], [1, -1] * 5)
    old = {"groups": ["a", "b"], "learners": [learner["a"].state(), learner["b"].state()]}
    found = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
    found.restore(old)
    assert found == learner


class Odd:
    """A learner whose state is neither numbers nor names."""

    def __init__(self):
        self.rounds = self.mistakes = 0
        self.seen = set()

    @property
    def parameters(self):
        return {}

    def predict_one(self, x):
        return x in self.seen

    def learn_one(self, x, y):
        said = self.predict_one(x)
        self.seen.add(x)
        self.rounds += 1
        return said

    def predict_many(self, X):
        return np.array([self.predict_one(x) for x in X])

    def learn_many(self, X, y):
        return np.array([self.learn_one(x, each) for x, each in zip(X, y, strict=True)])

    def state(self):
        return {"rounds": self.rounds, "seen": set(self.seen)}

    def restore(self, state):
        self.rounds, self.seen = state["rounds"], set(state["seen"])

    def copy(self):
        made = Odd()
        made.restore(self.state())
        return made


def test_a_state_that_cannot_be_packed_stays_awake(awake):
    learner = aw.PerGroup(Odd())
    said = [learner.learn_one(f"g{i % 4}", i % 8, 1) for i in range(16)]
    assert said == [False] * 8 + [True] * 8
    assert learner.predict_many([f"g{i % 4}" for i in range(4)], [0, 1, 2, 4]).tolist() == [True, True, True, False]
    assert "learners" in learner.state()
    assert register(Odd) is Odd


# ---------------------------------------------------------------------- packing

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4).map(np.array)
    | st.lists(st.integers(-9, 9), max_size=4).map(lambda each: np.array(each, dtype=np.int8).reshape(-1, 1)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=5))
def test_what_is_packed_comes_back_to_the_bit(values):
    packed = [pack(value) for value in values]
    assert same_value([unpack(*each) for each in packed], values)
    assert all(size_of(form) == len(numbers) for form, numbers in packed)
    table = table_of(packed)
    assert same_value([unpack(*each) for each in packed_in(table, len(values))], values)
    order = [(k, i) for i in reversed(range(len(values))) for k in (1, 0)]
    both = packed_in(joined_tables([table, table], order), 2 * len(values))
    assert same_value([unpack(*each) for each in both], [values[i] for _, i in order])


@pytest.mark.parametrize("value", [float("nan"), np.array([np.inf]), {1: 2}, {3}, object(), [b"x"], np.array(["a"])])
def test_what_cannot_be_packed(value):
    with pytest.raises(CannotPackError):
        pack([value])


@pytest.mark.parametrize(
    "form",
    [
        None,
        (),
        ("int", 1),
        ("same", 1.5),
        ("texts", ("a", 1)),
        ("array", "<f8"),
        ("array", "|O", (1,)),
        ("array", ">f8", (1,)),
        ("array", "<f8", (-1,)),
        ("array", "<f8", [1]),
        ("list", 3),
        ("list", (("int",), "x")),
        ("dict", ("a", "a"), (("int",), ("int",))),
        ("dict", ("a",), ()),
        ("dict", (1,), (("int",),)),
    ],
)
def test_what_is_no_form_is_refused(form):
    with pytest.raises(InputError, match="forms must be those of states"):
        size_of(form)


@pytest.mark.parametrize(
    "change",
    [
        {"form": np.array([0, 7])},
        {"form": np.array([0.0, 0.0])},
        {"form": np.array([0])},
        {"forms": ("int",)},
        {"forms": []},
        {"numbers": np.zeros(3, dtype=np.uint8)},
        {"numbers": np.zeros(16)},
    ],
)
def test_a_damaged_table_is_refused_and_changes_nothing(change):
    learner = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
    learner.learn_many(["a", "b"], np.eye(2), [1, -1])
    before = learner.copy()
    with pytest.raises(InputError):
        learner.restore({**learner.state(), **change})
    assert learner == before


def test_numbers_that_are_no_state_are_refused(tmp_path):
    learner = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
    learner.learn_many(["a", "b"], np.eye(2), [1, -1])
    state = learner.state()
    numbers = state["numbers"].copy()
    numbers[:8] = 255
    with pytest.raises(InputError, match="rounds, mistakes and updates"):
        learner.restore({**state, "numbers": numbers})
