"""ID3 against a slow one, a peer, and its own description."""

import copy
import math
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import afterwit as aw
import naive_rules
from afterwit.concepts import information_gain
from afterwit.core.certificate import Basis, Verdict
from afterwit.errors import InputError, LabelError

values = st.sampled_from(["red", "green", "blue", 0, 1, 2])
samples = st.tuples(st.integers(1, 4), st.integers(2, 4)).flatmap(
    lambda shape: st.lists(
        st.tuples(st.lists(values, min_size=shape[0], max_size=shape[0]), st.integers(1, shape[1])),
        min_size=1,
        max_size=20,
    ).map(lambda rows: ([x for x, _ in rows], [y for _, y in rows]))
)
options = st.fixed_dictionaries(
    {"max_depth": st.sampled_from([None, 0, 1, 2]), "min_gain": st.sampled_from([0.0, 0.05, 0.5])}
)


def known(X):
    return [sorted({x[j] for x in X}, key=naive_rules.order) for j in range(len(X[0]))]


@given(samples, options)
def test_the_tree_is_the_slow_one(sample, chosen):
    X, y = sample
    tree = aw.ID3(**chosen).fit(X, y)
    slow = naive_rules.id3(X, y, **chosen)
    lines = naive_rules.text(slow, lambda j: f"x[{j}]", known=known(X))
    assert tree.to_text() == str(tree) == ("\n".join(lines) if lines else f"{slow[1]} ({slow[2]})")
    shape = (naive_rules.nodes(slow), naive_rules.leaves(slow), naive_rules.depth(slow))
    assert (tree.nodes, tree.leaves, tree.depth) == shape
    predictions = [naive_rules.predict(slow, x) for x in X]
    assert tree.predict_many(X).tolist() == predictions
    assert tree.mistakes == sum(said != label for said, label in zip(predictions, y, strict=True))


@given(
    samples, st.lists(st.lists(st.sampled_from(["red", "green", "violet", 0, 5]), min_size=4, max_size=4), max_size=5)
)
def test_values_never_seen_get_the_commonest_label_of_their_node(sample, new):
    X, y = sample
    tree, slow = aw.ID3().fit(X, y), naive_rules.id3(X, y)
    new = [x[: len(X[0])] for x in new]
    assert tree.predict_many(new).tolist() == [naive_rules.predict(slow, x) for x in new]
    assert [tree.predict_one(x) for x in new] == [naive_rules.predict(slow, x) for x in new]


@given(samples)
def test_it_is_consistent_unless_equal_rows_have_different_labels(sample):
    X, y = sample
    labels = {}
    for x, label in zip(X, y, strict=True):
        labels.setdefault(tuple(x), set()).add(label)
    assert aw.ID3().fit(X, y).consistent == all(len(each) == 1 for each in labels.values())


@given(samples, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(sample, random):
    X, y = sample
    at = list(range(len(X)))
    random.shuffle(at)
    assert aw.ID3().fit(X, y) == aw.ID3().fit([X[i] for i in at], [y[i] for i in at])


@given(samples)
def test_gains_are_those_of_the_footnote(sample):
    X, y = sample
    expected = [naive_rules.gain([x[j] for x in X], y) for j in range(len(X[0]))]
    assert information_gain(X, y) == pytest.approx(expected, abs=1e-12)


def test_a_gain_by_hand():
    X = [["sunny"]] * 5 + [["overcast"]] * 4 + [["rain"]] * 5
    y = ["no"] * 3 + ["yes"] * 2 + ["yes"] * 4 + ["yes"] * 3 + ["no"] * 2
    half = -(2 / 5 * math.log2(2 / 5) + 3 / 5 * math.log2(3 / 5))
    whole = -(9 / 14 * math.log2(9 / 14) + 5 / 14 * math.log2(5 / 14))
    assert information_gain(X, y)[0] == pytest.approx(whole - 10 / 14 * half)
    assert round(information_gain(X, y)[0], 3) == 0.247  # Quinlan's example


def test_an_exclusive_or_has_no_gain_and_is_learned():
    X = [[a, b] for a in (0, 1) for b in (0, 1)]
    y = [a ^ b for a, b in X]
    assert information_gain(X, y).tolist() == [0, 0]
    tree = aw.ID3().fit(X, y)
    assert tree.consistent
    assert (tree.nodes, tree.depth) == (7, 2)
    assert aw.ID3(min_gain=0.01).fit(X, y).nodes == 1


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 60), st.integers(2, 3))
def test_the_peer_grows_the_same_on_binary_features(seed, width, rows, classes):
    """Fully grown on data without contradictions both are right on the sample; with the same first question, if no tie."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (rows, width))
    table = random.integers(0, classes, 2**width)
    y = table[X @ (1 << np.arange(width))]
    tree = aw.ID3().fit(X, y)
    peer = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y)
    assert tree.consistent
    assert tree.predict_many(X).tolist() == peer.predict(X).tolist() == y.tolist()
    gains = np.sort(information_gain(X, y))
    if len(set(y.tolist())) > 1 and gains[-1] - gains[-2] > 1e-9:
        assert int(re.match(r"x\[(\d+)\]", str(tree)).group(1)) == peer.tree_.feature[0]


# ---------------------------------------------------------------------- descriptions


@given(samples, options)
def test_the_description_says_the_tree_and_nothing_else(sample, chosen):
    X, y = sample
    tree = aw.ID3(**chosen).fit(X, y)
    slow, labels = naive_rules.id3(X, y, **chosen), sorted(set(y))
    read, rest = naive_rules.read(tree.description, known(X), labels)
    assert rest == ""
    assert read == naive_rules.bare(slow, known(X))
    assert tree.description_length == naive_rules.description_length(slow, known(X), labels)
    # Prefix-free: a reader stops exactly there, whatever follows.
    assert naive_rules.read(tree.description + "0110", known(X), labels) == (read, "0110")


def test_descriptions_meet_krafts_inequality():
    """All trees over two binary features, by all samples on their four points: no description begins another."""
    X = [[a, b] for a in (0, 1) for b in (0, 1)]
    found = set()
    for code in range(16):
        for depth in (0, 1, 2):
            y = [(code >> i) & 1 for i in range(4)]
            found.add(aw.ID3(max_depth=depth, labels=(0, 1)).fit(X, y).description)
    assert len(found) > 10
    assert sum(2.0 ** -len(each) for each in found) <= 1
    assert not any(a != b and b.startswith(a) for a in found for b in found)


def test_the_size_is_the_texts_count():
    """k nodes over d binary features: log2 d bits for each question, and O(1) for each node."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (200, 16))
    y = X[:, 3] & X[:, 7] | X[:, 1]
    tree = aw.ID3().fit(X, y)
    inner = tree.nodes - tree.leaves
    assert tree.description_length == inner * (1 + 4) + tree.leaves * 2
    assert tree.description_length <= tree.nodes * (2 + math.log2(16))


# ---------------------------------------------------------------------- certificates


@given(samples, options, st.floats(0.001, 0.9))
def test_both_bounds(sample, chosen, delta):
    X, y = sample
    tree = aw.ID3(**chosen).fit(X, y)
    certificate = tree.certificate(X, y, delta=delta)
    found = {each.theorem.name: each for each in (certificate, *certificate.others)}
    n, size, error = len(X), tree.description_length, tree.mistakes / len(X)
    razor, both = found["Occam's razor"], found["error on the sample, and size"]
    # The tighter of the two is shown, so that both have to hold at once: half of delta for each.
    assert both.bound == pytest.approx(error + math.sqrt((size * math.log(4) + math.log(4 / delta)) / (2 * n)))
    assert both.verdict is Verdict.HOLDS
    assert both.observed == error
    if tree.consistent:
        assert razor.bound == pytest.approx((size * math.log(2) + math.log(2 / delta)) / n)
        assert razor.verdict is Verdict.HOLDS
    else:
        assert razor.verdict is Verdict.NOT_APPLICABLE
        assert razor.bound is None
    assert certificate.theorem.chance == f"with probability {100 * (1 - delta):.10g}%"
    assert (certificate.inputs["delta"], certificate.inputs["delta of all bounds together"]) == (delta / 2, delta)


def test_the_certificate_judges_other_rows_too():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "a", "b", "b"]
    tree = aw.ID3().fit(X, y)
    other = tree.certificate([*X, [1, 1]], [*y, "a"])
    assert other.observed == 0.2
    assert other.rounds == 5
    # A value that the description does not know of counts as a mistake: it says nothing there.
    assert tree.certificate([*X, [7, 1]], [*y, "a"]).observed == 0.2


def test_what_is_known_beforehand_is_no_longer_a_promise():
    X, y = [{"a": 0, "b": "x"}, {"a": 1, "b": "y"}], [0, 1]
    language = "features, values and labels were known before the sample was drawn"
    for tree, basis in (
        (aw.ID3(), Basis.PROMISED),
        (aw.ID3(categories={"b": ["x", "y", "z"], "a": [0, 1]}, labels=[0, 1, 2]), Basis.ENFORCED),
        (aw.ID3(labels=[0, 1]), Basis.PROMISED),
    ):
        assumptions = tree.fit(X, y).certificate(X, y).assumptions
        assert [each.basis for each in assumptions if each.statement == language] == [basis]
    told = aw.ID3(categories=[[0, 1], ["x", "y", "z"]], labels=[0, 1, 2]).fit([[0, "x"], [1, "y"]], [0, 1])
    assert told.description == "10" + "000" + "001"  # three labels take two bits
    assert told.classes == [0, 1, 2]


def test_the_error_is_below_the_bound_on_new_data():
    random = np.random.default_rng(3)
    failures = 0
    for noise in (0.0, 0.1):
        for _ in range(15):
            X = random.integers(0, 2, (400, 5))
            y = (X[:, 0] & X[:, 1]) ^ (random.random(400) < noise)
            tree = aw.ID3(max_depth=3).fit(X, y)
            certificate = tree.certificate(X, y, delta=0.05)
            new = random.integers(0, 2, (3000, 5))
            error = np.mean(tree.predict_many(new) != ((new[:, 0] & new[:, 1]) ^ (random.random(3000) < noise)))
            failures += error > certificate.bound
    assert failures <= 2


# ---------------------------------------------------------------------- inputs and outputs


def test_every_form_of_input_gives_the_same_tree():
    frame = pd.DataFrame(
        {"sky": ["clear", "rain", "snow", "rain"], "wind": [True, False, True, True], "n": [0, 1, 2, 0]}
    )
    y = ["go", "go", "stay", "stay"]
    expected = str(aw.ID3().fit(frame, y))
    assert expected.startswith("sky = clear: go (1)\nsky = rain\n|   wind = False: go (1)")
    categorical = frame.astype({"sky": "category"})
    for data in (frame, categorical, pl.DataFrame(frame), pa.Table.from_pandas(frame), frame.to_dict("records")):
        for labels in (y, np.array(y), pd.Series(y), pl.Series(y), pa.array(y), tuple(y)):
            tree = aw.ID3().fit(data, labels)
            assert str(tree) == expected
            assert tree.predict_many(data).tolist() == y
    for data in (frame.to_numpy(), frame.to_numpy().tolist(), [tuple(row) for row in frame.to_numpy().tolist()]):
        assert str(aw.ID3().fit(data, y)) == re.sub("sky", "x[0]", re.sub("wind", "x[1]", expected))
    tree = aw.ID3().fit(frame, y)
    shuffled = frame[["n", "wind", "sky"]]
    assert tree.predict_many(shuffled).tolist() == y
    assert tree.predict_one(frame.iloc[2]) == "stay"
    assert tree.predict_one({"wind": False, "n": 0, "sky": "rain"}) == "go"


def test_whole_floats_and_booleans_are_whole_numbers():
    assert aw.ID3().fit([[1.0], [0.0]], [1.0, 0.0]) == aw.ID3().fit([[1], [0]], [1, 0])
    tree = aw.ID3().fit(np.array([[1.0], [0.0]]), np.array([2.0, 1.0]))
    assert tree.predict_one([True]) == 2
    assert tree.predict_many([[np.float64(0)]]).tolist() == [1]


def test_labels_come_back_as_they_were():
    assert aw.ID3().fit([[0], [1]], ["a", 3]).predict_many([[0], [1]]).tolist() == ["a", 3]
    assert aw.ID3().fit([[0], [1]], [False, True]).predict_many([[0], [1]]).dtype == bool
    assert aw.ID3().fit([[0], [1]], [4, 5]).predict_many([[0], [1]]).dtype == np.int64
    assert len(aw.ID3().fit([[0], [1]], [4, 5]).predict_many([])) == 0


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1, None]], [1], r"X\[0, 1\] must be a category.*missing values have to be filled in first; received None"),
        ([[math.nan]], [1], r"X\[0, 0\] must be .*missing values.*received nan"),
        (pd.DataFrame({"a": [1, None]}), [1, 1], r"X\[1, 'a'\] must be .*missing values.*received nan"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), [1, 1], r"X\[1, 'a'\] must be .*missing values"),
        (pl.DataFrame({"a": ["x", None]}), [1, 1], r"X\[1, 'a'\] must be .*missing values.*received None"),
        ([{"a": 1}, {"b": 1}], [1, 1], r"X\[1\]\['a'\] must be given: no value may be missing"),
        ([{"a": 1}, {"a": 1, "b": 1}], [1, 1], r"X\[1\] must be of the same features.*further feature 'b'"),
        ([[0.5]], [1], r"X\[0, 0\] must be a category: a string, a boolean or a whole number; received 0.5"),
        ([[[1]]], [1], r"X\[0, 0\] must be a category"),
        ([[1, 2], [3]], [1, 1], r"X\[1\] must be of 2 features, as the rows before; received 1"),
        ([[1]], [1, 2], r"y must be as long as X \(1 row\); received 2 labels"),
        ([[1]], [None], r"y\[0\] must be .*missing"),
        ([[1]], "a", "y must be a sequence"),
        ([], [], "X must be at least one row and one feature"),
        ([[]], [1], "X must be at least one row and one feature"),
        ("abc", [1, 1, 1], "X must be a 2-D array, a scipy sparse matrix"),
        (np.zeros(3), [1, 1, 1], "X must be two-dimensional"),
        (np.ma.masked_array([[1]]), [1], "X must be without a mask"),
        ([1, 2], [1, 1], r"X\[0\] must be a row of categories"),
        (pl.LazyFrame({"a": [1]}), [1], "X must be a 2-D array, .*, in memory"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), [1], "X must be a DataFrame whose columns have different names"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(X, y, message):
    tree = aw.ID3().fit([[0], [1]], [0, 1])
    before = tree.copy()
    with pytest.raises(InputError, match=message):
        tree.fit(X, y)
    assert tree == before


def test_other_features_are_refused_when_predicting():
    by_name, by_position = aw.ID3().fit([{"a": 1}, {"a": 2}], [1, 2]), aw.ID3().fit([[1], [2]], [1, 2])
    for tree, x, message in (
        (by_name, {"b": 1}, r"x must be of the features \['a'\]; received \['b'\]"),
        (by_name, [1], "x must be of features by name; received features by position"),
        (by_position, {"a": 1}, "x must be of features by position"),
        (by_position, [1, 2], "x must be of 1 features; received 2"),
        (by_position, 3, "x must be a dict or a sequence"),
        (by_position, "a", "x must be a dict or a sequence"),
        (by_position, [None], r"x\[0\] must be a category.*missing"),
    ):
        with pytest.raises(InputError, match=message):
            tree.predict_one(x)
    with pytest.raises(InputError, match="has not been fitted yet"):
        aw.ID3().to_text()
    with pytest.raises(LabelError, match=r"y\[0\] must be one of \[1, 2\]; received 3"):
        by_position.certificate([[1]], [3])
    with pytest.raises(LabelError, match=r"y\[0\] must be one of \['no', 'yes'\]; received 'maybe'"):
        aw.ID3(labels=("yes", "no")).fit([[1]], ["maybe"])
    with pytest.raises(InputError, match=r"X\[2, 1\] must be one of \[0, 1\]; received 5"):
        aw.ID3(categories=[[0, 1], [0, 1]]).fit([[0, 0], [1, 0], [0, 5]], [0, 1, 1])
    with pytest.raises(InputError, match=r"X\[1, 0\] must be one of \[0, 1\]; received 2"):
        aw.ID3(categories=[[0, 1]]).fit([[1], [2]], [1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be a whole number, at least 0, or None; received -1"),
        ({"max_depth": 1.5}, "max_depth must be"),
        ({"min_gain": -0.1}, "min_gain must be a finite number, 0 or more"),
        ({"min_gain": math.nan}, "min_gain must be"),
        ({"labels": [1, 1]}, "labels must be a sequence of different labels"),
        ({"labels": "ab"}, "labels must be"),
        ({"categories": 3}, "categories must be a dict"),
        ({"categories": ["ab"]}, "categories must be"),
        ({"categories": {"a": [1, 1]}}, r"categories\['a'\] must be a sequence of different values"),
        ({"categories": {"a": [None]}}, r"categories\['a'\] must be a category"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        aw.ID3(**options)


def test_lengths_have_to_fit():
    tree = aw.ID3().fit([[0], [1]], [0, 1])
    with pytest.raises(InputError, match="X must be at least one row"):
        tree.certificate([], [])
    with pytest.raises(InputError, match=r"y must be as long as X \(1 row\); received 2 labels"):
        tree.certificate([[0]], [0, 1])
    for X, y in (([[0]], [0, 1]), ([], [])):
        with pytest.raises(InputError, match="y must be as long as X"):
            information_gain(X, y)
    with pytest.raises(InputError, match="X must be of 1 features; received 2"):
        tree.predict_many([[0, 1]])


def test_categories_have_to_fit_the_features():
    for categories, X in (([[0]], [[0, 0]]), ({"a": [0], "c": [0]}, [{"a": 0}]), ({"a": [0]}, [{"a": 0, "b": 0}])):
        with pytest.raises(InputError, match="categories must be given"):
            aw.ID3(categories=categories).fit(X, [1])


def statements(dot):
    """A small reader of the dot language: nodes and edges with their labels."""
    text = r'"((?:[^"\\]|\\.)*)"'
    lines = dot.split("\n")
    assert lines[0] == "digraph tree {"
    assert lines[-1] == "}"
    nodes, edges = {}, []
    for line in lines[2:-1]:
        node = re.fullmatch(rf"  (n\d+) \[label={text}(?:, style=rounded)?\];", line)
        edge = re.fullmatch(rf"  (n\d+) -> (n\d+) \[label={text}\];", line)
        assert node or edge, line
        if node:
            nodes[node[1]] = node[2]
        else:
            edges.append((edge[1], edge[2], edge[3]))
    return nodes, edges


@given(samples)
def test_the_graph_is_the_tree(sample):
    X, y = sample
    tree = aw.ID3().fit(X, y)
    nodes, edges = statements(tree.to_dot())
    assert len(nodes) == tree.nodes
    assert len(edges) == tree.nodes - 1
    assert {child for _, child, _ in edges} == set(nodes) - {"n0"}
    below = {node: {} for node in nodes}
    for parent, child, value in edges:
        below[parent][value] = child
    for x in X:
        at = "n0"
        while below[at]:
            feature = int(re.fullmatch(r"x\[(\d+)\]\? \(\d+\)", nodes[at])[1])
            at = below[at][str(x[feature])]
        assert nodes[at].startswith(f"{naive_rules.predict(naive_rules.id3(X, y), x)} (")


def test_odd_names_are_quoted_in_the_graph():
    tree = aw.ID3().fit([{'the "n"\\': 'a"\nb'}, {'the "n"\\': "c"}], ["x\\", 'y"'])
    nodes, edges = statements(tree.to_dot())
    assert len(nodes) == 3
    assert edges[0][2] == 'a\\"\\nb'
    assert nodes["n0"] == 'the \\"n\\"\\\\? (2)'


def test_saving_copying_and_comparing(tmp_path):
    X = [{"a": "x", "b": 1}, {"a": "y", "b": 2}, {"a": "z", "b": 1}]
    for fresh in (
        aw.ID3(),
        aw.ID3(max_depth=2, min_gain=0.1, categories={"a": ["x", "y", "z"], "b": [1, 2]}, labels=["p", "q"]),
    ):
        for tree in (fresh, fresh.copy().fit(X, ["p", "q", "p"])):
            aw.save(tree, tmp_path / "m")
            first = (tmp_path / "m").read_bytes()
            for twin in (aw.load(tmp_path / "m"), copy.deepcopy(tree), pickle.loads(pickle.dumps(tree))):
                assert twin == tree
                assert repr(twin) == repr(tree)
                aw.save(twin, tmp_path / "m")
                assert (tmp_path / "m").read_bytes() == first
        loaded = aw.load(tmp_path / "m")
        assert str(loaded) == str(tree)
        assert loaded.description == tree.description
        assert tree != fresh
        assert fresh.rounds == 0


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 2},
        {"mistakes": 9},
        {"feature": np.array([5, -1, -1])},
        {"feature": np.array([-1, -1, -1])},
        {"parent": np.array([-1, 2, 0])},
        {"parent": np.array([-1, -1, 0])},
        {"value": np.array([-1, 0, 7])},
        {"label": np.array([0, 1, 2])},
        {"examples": np.array([3, 1])},
        {"names": ["a"]},
        {"value": np.array([-1, 1, 0])},
        {"value": np.array([-1, 1, 1])},
        {"feature": np.array([0, 1, -1])},
        {"feature": np.array([0, 1, -1]), "parent": np.array([-1, 0, 1]), "value": np.array([-1, 0, 0])},
        {"feature": np.array([0.0, -1.0, -1.0])},
    ],
)
def test_a_damaged_state_is_refused(change):
    tree = aw.ID3().fit([[0, 0], [1, 0], [1, 1]], ["p", "q", "q"])
    assert tree.nodes == 3
    before = tree.copy()
    with pytest.raises(InputError):
        tree.restore({**tree.state(), **change})
    assert tree == before


def test_a_long_path_of_questions():
    """Deeper than Python's own stack: ask feature 0, then 1, then 2 ..., as long as the answer is 1."""
    d = 1200
    tree = aw.ID3().fit(np.vstack([np.zeros(d, dtype=int), np.eye(d, dtype=int)[:1]]), [0, 1])
    inner = np.arange(d) * 2
    number = np.arange(2 * d + 1)
    chain = {
        "feature": np.where(np.isin(number, inner), number // 2, -1),
        "label": np.where(number == 2 * d, 1, 0),
        "parent": np.where(number == 0, -1, (number - 1) // 2 * 2),
        "value": np.where(number == 0, -1, (number + 1) % 2),
        # Both go the whole way and part at the end.
        "examples": np.where(np.isin(number, inner), 2, np.where(number < 2 * d - 1, 0, 1)),
    }
    tree.restore({**tree.state(), **chain, "values": [[0, 1]] * d})
    X = np.ones((3, d), dtype=int)
    X[1, d - 1] = X[2, 0] = 0
    assert tree.predict_many(X).tolist() == [1, 0, 0]
    assert (tree.depth, tree.nodes) == (d, 2 * d + 1)
    assert len(tree.to_text().split("\n")) == tree.nodes - 1
    assert tree.to_dot().count("->") == tree.nodes - 1
    assert tree.certificate(X, [1, 0, 0]).observed == 0


def test_a_bound_on_the_error_of_1_or_more_says_nothing():
    tree = aw.ID3().fit([[1], [1]], [1, 0])
    certificate = tree.certificate([[1], [1]], [1, 0])
    assert certificate.bound > 1
    assert certificate.vacuous
    assert "holds, but the bound says nothing here: no error is above 1" in " ".join(str(certificate).split())
    rows = [[i % 2] for i in range(1000)]
    assert not tree.fit(rows, [i % 2 for i in range(1000)]).certificate(rows, [i % 2 for i in range(1000)]).vacuous


def test_sparse_matrices_are_read_as_what_they_are():
    from scipy.sparse import csc_matrix, csr_array

    X = np.random.default_rng(0).integers(0, 2, (60, 5))
    y = X[:, 1] ^ X[:, 3]
    tree = aw.ID3().fit(X, y)
    for sparse in (csr_array(X), csc_matrix(X.astype(float))):
        assert aw.ID3().fit(sparse, y) == tree
        assert tree.predict_many(sparse).tolist() == y.tolist()
        assert tree.certificate(sparse, y) == tree.certificate(X, y)
