"""Iterative parameter mixing against its oracle, in this process: weights to the bit, bounds, inputs."""

import io
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_mixing
from afterwit.certify.perceptron import comparators_for
from afterwit.cluster import Here, looking, mixing, train
from afterwit.cluster.looking import Lens, followed
from afterwit.cluster.mixing import Heard, Start, shares
from afterwit.cluster.shards import Memory
from afterwit.cluster.tree import tree
from afterwit.core.certificate import Verdict
from afterwit.core.storage import write_model
from afterwit.errors import DivergenceError, InputError, ModelFileError, StreamError
from afterwit.linear._mixed_bounds import MixedHingeBound, MixedMarginBound, MixedMarginUpdateBound, MixedTotalBound

MIXINGS = ("uniform", "rows", "mistakes")
MIXABLE = (
    aw.Perceptron,
    aw.AveragedPerceptron,
    aw.MarginPerceptron,
    aw.SGD,
    lambda **options: aw.SGD(ball=0.5, **options),
    lambda **options: aw.SGD(schedule="1/sqrt(t)", **options),
    aw.OnlineSVM,
    aw.AdaGrad,
    aw.NormalizedAdaGrad,
    aw.MulticlassPerceptron,
    aw.AveragedMulticlassPerceptron,
    aw.SoftmaxAdaGrad,
)


def bytes_of(model):
    file = io.BytesIO()
    write_model(model, file)
    return file.getvalue()


def rows(seed=0, count=57, width=5, noise=0.2):
    random = np.random.default_rng(seed)
    X = random.standard_normal((count, width))
    y = np.where(X @ random.standard_normal(width) >= 0, 1, -1)
    return X, np.where(random.random(count) < noise, -y, y)


def parts(X, y, count):
    borders = [len(y) * i // count for i in range(count + 1)]
    return [list(zip(X[a:b].tolist(), y[a:b].tolist(), strict=True)) for a, b in itertools.pairwise(borders)]


def done(record):
    return [[(each.rounds, each.mistakes, each.updates) for each in heard] for heard in record.epochs]


def run(learner, X, y, **how):
    return train(learner, X, y, client=Here(), **how)


def by_name(certificate):
    return {each.theorem.id: each for each in (certificate, *certificate.others)}


# ---------------------------------------------------------------------- the algorithm


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("shards", [1, 2, 3, 5, 8, 60])
def test_perceptrons_are_the_oracles_to_the_bit(shards, mixing):
    X, y = rows()
    learner = aw.Perceptron()
    record = run(learner, X, y, shards=shards, epochs=4, mixing=mixing)
    weights, counts = naive_mixing.mix(parts(X, y, shards), 4, mixing, naive_mixing.perceptron, 5)
    assert learner.weights.tolist() == weights[-1]
    assert done(record) == counts
    assert (learner.rounds, learner.mistakes) == (4 * 57, sum(k for epoch in counts for _, k, _ in epoch))


@given(
    st.integers(0, 10_000),
    st.integers(1, 9),
    st.integers(1, 3),
    st.sampled_from(MIXINGS),
    st.sampled_from([1, 1e-12, 1e12]),
)
def test_any_rows_at_any_scale(seed, shards, epochs, mixing, scale):
    X, y = rows(seed, count=seed % 40, width=1 + seed % 4)
    X = scale * X
    learner = aw.Perceptron(labels=(-1, 1))
    record = run(learner, X, y, shards=shards, epochs=epochs, mixing=mixing)
    weights, counts = naive_mixing.mix(parts(X, y, shards), epochs, mixing, naive_mixing.perceptron, X.shape[1])
    assert [*learner.weights.tolist(), *[0.0] * (X.shape[1] - learner.features)] == weights[-1]
    assert done(record) == counts
    found = record.certificate()
    for each in (found, *found.others):
        assert each.verdict is not Verdict.VIOLATED
        assert all(assumption.holds for assumption in each.assumptions[:3])
    wanted = sum(c[1] * mu for epoch in counts for c, mu in zip(epoch, naive_shares(epoch, mixing), strict=True))
    assert by_name(found)["perceptron-mixed-hinge"].observed == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def naive_shares(epoch, mixing):
    c = [{"uniform": min(n, 1), "rows": n, "mistakes": k}[mixing] for n, k, _ in epoch]
    c = c if sum(c) else [n for n, _, _ in epoch]
    return [each / (sum(c) or 1) for each in c]


@pytest.mark.parametrize("shards", [2, 3, 7])
def test_gradient_descent_and_margin_perceptrons_too(shards):
    X, y = rows(3)
    sgd = aw.SGD(loss="hinge", rate=0.1, intercept=False)
    run(sgd, X, y, shards=shards, epochs=3)
    wanted, counts = naive_mixing.mix(parts(X, y, shards), 3, "uniform", naive_mixing.hinge_descent(0.1), 5)
    assert sgd.weights == pytest.approx(np.array(wanted[-1]), rel=1e-12)
    margin = aw.MarginPerceptron(margin=0.7)
    record = run(margin, X, y, shards=shards, epochs=3)
    wanted, counts = naive_mixing.mix(parts(X, y, shards), 3, "uniform", naive_mixing.margin_perceptron(0.7), 5)
    assert margin.weights.tolist() == wanted[-1]
    assert done(record) == counts
    assert margin.state()["square"] == pytest.approx(float(np.dot(margin.weights, margin.weights)), rel=1e-12)


@pytest.mark.parametrize("shards", [2, 3, 4])
def test_the_average_is_over_all_rounds_of_all_shards(shards):
    X, y = rows(5, count=40, width=3)
    learner = aw.AveragedPerceptron()
    run(learner, X, y, shards=shards, epochs=3)
    last, average = naive_mixing.average(parts(X, y, shards), 3, 3)
    assert learner.weights == pytest.approx(np.array([float(a) for a in average]), rel=1e-12)
    assert learner.last_weights == pytest.approx(np.array([float(a) for a in last]), rel=1e-12)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("make", MIXABLE)
def test_one_shard_is_the_learner_itself(make, mixing):
    X, y = rows(1)
    mixed, plain = make(labels=(-1, 1)), make(labels=(-1, 1))
    run(mixed, X, y, shards=1, epochs=2, mixing=mixing)
    for _ in range(2):
        plain.learn_many(X, y)
    assert mixed == plain
    assert bytes_of(mixed) == bytes_of(plain)


@pytest.mark.parametrize("make", MIXABLE)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_every_mixed_state_is_one_that_can_be_saved_and_goes_on(make, mixing, tmp_path):
    X, y = rows(2)
    learner = make(labels=(-1, 1))
    record = run(learner, X, y, shards=4, epochs=3, mixing=mixing)
    assert learner.rounds == record.rounds == 3 * 57
    assert learner.mistakes == record.mistakes
    aw.save(learner, tmp_path / "model.aw")
    assert aw.load(tmp_path / "model.aw") == learner
    learner.learn_many(X, y)
    assert np.isfinite(np.asarray(list(np.ravel(learner.score_many(X))), dtype=float)).all()


def test_features_in_any_units_are_mixed_in_their_own():
    X, y = rows(4)
    one, other = aw.NormalizedAdaGrad(), aw.NormalizedAdaGrad()
    run(one, X, y, shards=3, epochs=2)
    run(other, X * [1, 4, 0.25, 1024, 2.0**-30], y, shards=3, epochs=2)
    assert one.mistakes == other.mistakes
    assert (one.weights == other.weights * [1, 4, 0.25, 1024, 2.0**-30]).all()


def test_the_largest_values_are_those_of_any_shard():
    X = np.array([[1.0, 8.0], [2.0, 4.0], [4.0, 2.0], [0.5, 1.0]])
    learner = aw.NormalizedAdaGrad(intercept=False)
    run(learner, X, [1, -1, 1, -1], shards=2)
    assert learner.state()["largest"].tolist() == [4.0, 8.0]
    # Of one row for each shard, in units that are powers of 2, everything is exact: the mean of the weights in the data's units.
    ends = []
    for row, label in (([1.0], 1), ([4.0], -1)):
        alone = aw.NormalizedAdaGrad(intercept=False, loss="hinge")
        alone.learn_many([row], [label])
        ends.append(alone.weights[0])
    mixed = aw.NormalizedAdaGrad(intercept=False, loss="hinge", labels=(-1, 1))
    run(mixed, [[1.0], [4.0]], [1, -1], shards=2)
    assert mixed.weights[0] == (ends[0] + ends[1]) / 2


def test_features_that_only_one_shard_has_are_mixed_by_their_names(tmp_path):
    names = "abcd"
    for i, name in enumerate(names):
        (tmp_path / f"{i}.jsonl").write_text(f'{{"word": "{name}", "y": "no"}}\n' * 2)
    learner = aw.Perceptron()
    stream = aw.read(str(tmp_path), target="y", labels=("no", "yes"))
    record = train(learner, stream, shards=4, epochs=2, client=Here())
    # Each shard has its own word, and makes one mistake with it: its weight is a quarter of -1.
    assert learner.weights == {f"word={name}": -0.25 for name in names}
    assert list(learner.weights) == [f"word={name}" for name in names]
    assert record.mistakes == 4
    assert record.model.predict_one({"word": "c"}) == "no"


def test_an_epoch_without_a_mistake_changes_nothing():
    X = np.vstack([np.eye(3)] * 3) / 3
    learner = aw.Perceptron()
    record = run(learner, X, -np.ones(9), shards=3, epochs=1)
    before = learner.weights.tolist()
    record = run(learner, X, -np.ones(9), shards=3, epochs=3)
    assert record.mistakes == 0
    assert learner.weights.tolist() == before


def test_empty_shards_and_labels_all_alike():
    X, y = rows(6, count=3)
    for labels in (y, np.ones(3), -np.ones(3)):
        learner = aw.Perceptron()
        record = run(learner, X, labels, shards=7, epochs=2)
        assert [len(heard) for heard in record.epochs] == [7, 7]
        assert sum(each.rounds > 0 for each in record.epochs[0]) == 3
        assert [sum(weights) for weights in record.weights] == pytest.approx([1, 1])
        assert record.certificate().verdict is Verdict.HOLDS
    nothing = run(aw.Perceptron(), np.zeros((0, 4)), [], shards=3)
    assert (nothing.rounds, nothing.certificate().observed) == (0, 0)


def test_classes_come_in_the_order_of_the_shards():
    X = np.vstack([np.eye(3), np.eye(3)[::-1]])
    y = ["a", "b", "a", "c", "b", "a"]
    learner = aw.MulticlassPerceptron()
    run(learner, X, y, shards=2, epochs=5)
    assert learner.classes == ("a", "b", "c")
    total = sum(np.asarray(learner.weights[label]) for label in learner.classes)
    assert total == pytest.approx(0)


def test_sparse_rows_and_dense_rows_give_the_same():
    X, y = rows(7)
    X[X < 0.5] = 0.0
    one, other = aw.Perceptron(), aw.Perceptron()
    run(one, X, y, shards=3, epochs=2)
    run(other, sparse.csr_array(X), y, shards=3, epochs=2)
    assert done(run(aw.Perceptron(), X, y, shards=3)) == done(run(aw.Perceptron(), sparse.csr_array(X), y, shards=3))
    assert one.weights == pytest.approx(other.weights)


def test_the_tree_depends_on_the_number_of_shards_alone():
    assert tree(list("abcdefg"), lambda a, b: f"({a}{b})") == "(((ab)(cd))((ef)g))"
    assert tree(["a"], None) == "a"


def test_shares():
    heard = [Heard(rounds=3, mistakes=1, count=1), Heard(), Heard(rounds=1, count=3)]
    assert shares(heard) == [0.25, 0.0, 0.75]
    assert shares([Heard(rounds=3), Heard(rounds=1)]) == [0.75, 0.25]
    assert shares([Heard()]) == [0.0]


# ---------------------------------------------------------------------- the bounds


def test_the_formulas():
    assert MixedMarginBound.bound(radius=3.0, margin=0.5) == 36
    assert MixedHingeBound.bound(radius=3.0, norm=1.0, hinge_loss=4.0) == 16
    assert MixedMarginUpdateBound.bound(radius=3.0, margin=0.5) == 16 * 36
    assert MixedTotalBound.bound(weighted=12.0, share=0.25) == 48
    assert aw.bounds.bound("perceptron-mixed-total", weighted=3, share=0.5) == 6


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("shards", [1, 2, 3, 8])
def test_shards_with_the_same_unit_vectors_attain_both_bounds(n, shards):
    X = np.tile(np.eye(n), (shards, 1))
    record = run(aw.Perceptron(rate=0.5), X, -np.ones(len(X)), shards=shards, epochs=2)
    assert (record.mistakes, record.weighted_mistakes) == (shards * n, pytest.approx(n))
    found = by_name(record.certificate())
    margin, total = found["perceptron-mixed"], found["perceptron-mixed-total"]
    assert (margin.observed, margin.bound) == (pytest.approx(n), pytest.approx(n, rel=1e-9))
    assert (total.observed, total.bound) == (shards * n, pytest.approx(shards * n, rel=1e-9))
    assert {margin.verdict, total.verdict} == {Verdict.HOLDS}
    assert margin.hindsight.value == 0


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", ["separable", "noise", "contrary shards"])
@pytest.mark.parametrize("name", ["Perceptron", "AveragedPerceptron", "MarginPerceptron"])
def test_certificates_hold_and_say_both_numbers(name, kind, mixing):
    X, y = rows(8, count=200, noise=0.15 if kind == "noise" else 0.0)
    if kind == "contrary shards":
        y[100:] = -y[100:]
    learner = getattr(aw, name)(**({"margin": 0.01} if name == "MarginPerceptron" else {}))
    record = run(learner, X, y, shards=4, epochs=3, mixing=mixing)
    found = record.certificate()
    text = str(found)
    for each in (found, *found.others):
        assert each.verdict is not Verdict.VIOLATED, each.details()
        if each.bound is not None and each.quantity.startswith("weighted"):
            assert each.observed <= each.bound
    if name != "MarginPerceptron":
        what = "mistakes" if name == "Perceptron" else "updates"
        assert f"weighted {what} at most" in text
        assert f"\n  {what}" in text
        assert by_name(found)["perceptron-mixed-total"].observed == getattr(learner, what)
    assert all(each.holds for each in found.assumptions[:4])


@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_given_comparator_has_the_losses_that_it_has(mixing):
    X, y = rows(9, count=600, noise=0.05)
    u = np.round(np.linalg.lstsq(X, y, rcond=None)[0], 1)
    record = run(aw.Perceptron(), X, y, shards=5, epochs=2, mixing=mixing)
    found = by_name(record.certificate(comparator=u))["perceptron-mixed-hinge"]
    length, loss, radius = found.inputs["|u|"], found.inputs["L"], found.inputs["R"]
    scale = length / np.linalg.norm(u)
    assert scale > 0
    borders = [120 * i for i in range(6)]
    hinge = np.maximum(0, 1 - scale * y * (X @ u))
    wanted = sum(
        mu * hinge[a:b].sum()
        for weights in record.weights
        for mu, a, b in zip(weights, borders[:-1], borders[1:], strict=True)
    )
    assert loss == pytest.approx(wanted, rel=1e-9)
    assert radius == pytest.approx(np.linalg.norm(X, axis=1).max())
    assert found.bound == pytest.approx(((radius * length + math.sqrt((radius * length) ** 2 + 4 * loss)) / 2) ** 2)
    # No other length is much better.
    for factor in (0.5, 0.8, 1.25, 2.0):
        other = np.maximum(0, 1 - factor * scale * y * (X @ u))
        total = sum(
            mu * other[a:b].sum()
            for weights in record.weights
            for mu, a, b in zip(weights, borders[:-1], borders[1:], strict=True)
        )
        z = radius * length * factor
        assert found.bound <= ((z + math.sqrt(z * z + 4 * total)) / 2) ** 2 * (1 + 1e-3)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e3, 1e12])
def test_certificates_do_not_depend_on_the_unit(scale):
    X, y = rows(10, count=80, noise=0.0)
    plain, scaled = (run(aw.Perceptron(), factor * X, y, shards=3, epochs=2).certificate() for factor in (1.0, scale))
    assert scaled.verdict is Verdict.HOLDS
    assert scaled.observed == plain.observed
    assert scaled.bound == pytest.approx(plain.bound, rel=1e-4)


def test_the_margin_perceptron_has_its_own_bound():
    X, y = rows(11, count=150, noise=0.0)
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    margins = y * (X @ u) / np.linalg.norm(u)
    X, y = X[margins > 0.2], y[margins > 0.2]
    record = run(aw.MarginPerceptron(margin=0.2), X, y, shards=4, epochs=4)
    found = record.certificate()
    assert (found.theorem.id, found.verdict) == ("margin-perceptron-mixed", Verdict.HOLDS)
    radius = np.linalg.norm(X, axis=1).max()
    assert found.bound == pytest.approx(16 * (radius / 0.2) ** 2)


# ---------------------------------------------------------------------- the checker


def test_an_average_that_is_none_is_found(monkeypatch):
    given = mixing.given
    monkeypatch.setattr(mixing, "given", lambda *how: {**(state := given(*how)), "weights": 1.1 * state["weights"]})
    X, y = rows()
    found = run(aw.Perceptron(), X, y, shards=3, epochs=2).certificate()
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.why_not()[0] == "after epoch 1 the weights are another average"


def test_a_round_that_is_not_by_the_rule_is_found():
    X, y = rows(noise=0.0)
    learner = aw.Perceptron(labels=(-1, 1))
    run(learner, X, y, shards=1)
    lens, start = Lens.of(learner), Start.of(learner)
    vector = np.array(learner.weights)
    sizes = np.abs(X).sum(axis=0)
    good = followed(Memory(), (X, y), lens, start, (vector, sizes), "uniform", False, 7)
    wrong = followed(Memory(), (X, y), lens, start, (-vector, sizes), "uniform", False, 7)
    assert good.suspect == ""
    assert wrong.suspect == "shard 7: row 0 was not treated by the rule"


def test_rows_that_have_changed_are_found():
    X, y = rows()
    learner = aw.Perceptron()
    record = run(learner, X, y, shards=3, epochs=2)
    X[:] = rows(seed=77)[0]
    found = record.certificate()
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.why_not() == ["played again, epoch 1 has other rounds or mistakes; are they still the same rows?"]


# ---------------------------------------------------------------------- what has no bound, and says so


@pytest.mark.parametrize(("shards", "rows_of_each"), [(2, 28), (5, 12)])
def test_comparators_are_sought_on_a_few_rows_of_each_shard_and_judged_on_all(monkeypatch, shards, rows_of_each):
    X, y = rows(8, count=120)
    seen = []

    def noted(matrix, *more):
        seen.append(matrix.shape[0])
        return comparators_for(matrix, *more)

    record = run(aw.Perceptron(), X, y, shards=shards, epochs=2)
    for name, value in (("comparators_for", noted), ("MOST_ROWS_TO_FIT", 56), ("LEAST_ROWS_TO_FIT", 12)):
        monkeypatch.setattr(looking, name, value)
    found = record.certificate()
    assert found.verdict is Verdict.HOLDS
    assert len(seen) == shards
    assert rows_of_each / 2 <= max(seen) <= rows_of_each
    # Whatever it was found on, the bound is that of a comparator and its losses over all rows.
    for each in (found, *found.others):
        if each.theorem.id == "perceptron-mixed-hinge":
            assert each.bound >= each.observed


def test_a_used_learner_has_no_certificate():
    X, y = rows()
    learner = aw.Perceptron()
    learner.learn_many(X, y)
    found = run(learner, X, y, shards=2).certificate()
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.why_not() == ["the learner had learned 57 rounds before this run"]
    learner = aw.Perceptron(start=[1.0, 0, 0, 0, 0])
    assert run(learner, X, y, shards=2).certificate().verdict is Verdict.NOT_APPLICABLE


def test_a_learner_that_has_gone_on_has_none_either():
    X, y = rows()
    learner = aw.Perceptron()
    record = run(learner, X, y, shards=2)
    assert record.certificate().verdict is Verdict.HOLDS
    learner.learn_many(X, y)
    assert "learned something else since" in record.certificate().why_not()[0]


def test_averages_at_the_end_alone_have_none():
    X, y = rows()
    learner = aw.Perceptron()
    record = run(learner, X, y, shards=3, epochs=4, once=True)
    ends = []
    for shard in parts(X, y, 3):
        w = [0.0] * 5
        for _ in range(4):
            w, _ = naive_mixing.perceptron(w, shard)
        ends.append(w)
    assert learner.weights.tolist() == [naive_mixing.tree([end[j] for end in ends]) / 3 for j in range(5)]
    assert (record.passes, len(record.epochs), record.rounds) == (4, 1, 4 * 57)
    with pytest.raises(InputError, match="no bound is known for such an average"):
        record.certificate()


@pytest.mark.parametrize("make", [aw.SGD, aw.OnlineSVM, aw.AdaGrad, aw.NormalizedAdaGrad, aw.SoftmaxAdaGrad])
def test_learners_without_a_certificate_say_why(make):
    X, y = rows()
    with pytest.raises(InputError, match=f"{make.__name__} has no certificate: .*"):
        run(make(labels=(-1, 1)), X, y, shards=2).certificate()


@pytest.mark.parametrize(
    ("learner", "why"),
    [
        (aw.Winnow(), "products of factors"),
        (aw.VotedPerceptron(), "a vote has no weights"),
        (aw.ScaleFree(), "what it has won"),
        (aw.PassiveAggressive(), "no result about their average"),
        (aw.KernelPerceptron(aw.kernels.linear()), "keeps examples, not weights"),
        (aw.Committee(), "made of other learners"),
        (aw.SGDRegressor(), "learners of labels"),
    ],
)
def test_others_are_refused_with_the_reason(learner, why):
    with pytest.raises(InputError, match=why):
        run(learner, np.eye(2), [1, -1])


# ---------------------------------------------------------------------- inputs, saving, going on


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"epochs": 0}, "epochs must be"),
        ({"shards": 0}, "shards must be"),
        ({"mixing": "none"}, "mixing must be 'uniform' or 'rows' or 'mistakes'; received 'none'"),
        ({"patience": 0}, "patience must be"),
        ({"target": "y"}, "target must be left out, because y has the labels"),
        ({"client": 3}, "client must be a distributed.Client"),
    ],
)
def test_bad_options_are_one_sentence(how, message):
    X, y = rows()
    learner = aw.Perceptron()
    with pytest.raises(InputError, match=message):
        train(learner, X, y, **{"client": Here(), **how})
    assert learner.rounds == 0


def test_what_cannot_be_read_apart_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,no\n2,yes\n")
    path = str(tmp_path / "t.csv")
    with pytest.raises(StreamError, match="files, rows in memory or a collection of Dask were expected"):
        train(
            aw.Perceptron(), aw.read("SELECT a, y FROM (VALUES (1, 'x'), (2, 'z')) t(a, y)", target="y"), client=Here()
        )
    with pytest.raises(InputError, match="order_by must be left out, because shards are read apart"):
        train(aw.Perceptron(), aw.read(path, target="y", order_by="a"), client=Here())
    with pytest.raises(InputError, match="y must be given with X"):
        train(aw.Perceptron(), np.eye(2), client=Here())
    with pytest.raises(InputError, match="target must be left out"):
        train(aw.Perceptron(), aw.read(path, target="y"), target="y", client=Here())


def table(path, count=200):
    random = np.random.default_rng(0)
    lines = ["a,b,town,y"]
    for _ in range(count):
        a, b = random.standard_normal(2)
        lines.append(f"{a},{b},{random.choice(['x', 'y', 'z'])},{'yes' if a + b > 0 else 'no'}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_going_on_from_a_file_gives_the_same_bytes(tmp_path):
    path, saved = table(tmp_path / "t.csv"), tmp_path / "model.aw"
    for make in (aw.Perceptron, aw.AveragedPerceptron, aw.AdaGrad, aw.NormalizedAdaGrad):
        whole = train(make(), path, target="y", shards=3, epochs=5, client=Here())
        train(make(), path, target="y", shards=3, epochs=2, client=Here(), save=saved)
        rest = train(make(), path, target="y", shards=3, epochs=3, client=Here(), resume=saved, save=saved)
        assert bytes_of(rest.model) == bytes_of(whole.model) == saved.read_bytes()


def test_a_failure_keeps_the_last_whole_epoch(tmp_path):
    path, saved = table(tmp_path / "t.csv"), tmp_path / "model.aw"
    learner, seen = aw.Perceptron(), []

    def progress(number, done, record):
        seen.append((number, done))
        if (number, done) == (3, 1):
            text = (tmp_path / "t.csv").read_text()
            (tmp_path / "t.csv").write_text(text.replace("a,b", "a,c"))

    with pytest.raises(StreamError) as failure:
        train(learner, path, target="y", shards=2, epochs=4, client=Here(), save=saved, on_progress=progress)
    assert f"{saved} has the model after epoch 3 of 4" in str(failure.value)
    kept = aw.load(saved)
    assert kept.learner == learner
    assert learner.rounds == 3 * 200
    assert seen[:4] == [(1, 0), (1, 1), (1, 2), (1, 2)]


def test_a_file_of_another_learner_is_refused(tmp_path):
    X, y = rows()
    saved = tmp_path / "model.aw"
    aw.save(aw.AveragedPerceptron(), saved)
    with pytest.raises(ModelFileError, match="a Perceptron was expected; this is a AveragedPerceptron"):
        run(aw.Perceptron(), X, y, resume=saved)
    aw.save(aw.Perceptron(rate=2.0), saved)
    with pytest.raises(InputError, match=r"its rate is 2.0, and that of the learner 1.0"):
        run(aw.Perceptron(), X, y, resume=saved)
    used = aw.Perceptron()
    used.learn_many(X, y)
    with pytest.raises(InputError, match="learner must be a fresh one"):
        run(used, X, y, resume=saved)
    with pytest.raises(InputError, match="cannot be written"):
        run(aw.Perceptron(), X, y, save=tmp_path / "no" / "model.aw")


def test_weights_that_overflow_are_an_error_and_change_nothing():
    learner = aw.SGD(loss="squared", rate=1e3, intercept=False)
    X, y = rows()
    with pytest.raises(DivergenceError):
        run(learner, 1e150 * X, y, shards=2)
    assert learner.rounds == 0


def test_the_record_says_it_all():
    X, y = rows()
    record = run(aw.Perceptron(), X, y, shards=3, epochs=2, mixing="rows")
    data = record.to_dict()
    assert [len(epoch) for epoch in data["epochs"]] == [3, 3]
    assert sum(each["weight"] for each in data["epochs"][0]) == pytest.approx(1)
    assert data["weighted_mistakes"] == record.weighted_mistakes
    assert record.trace.rounds == record.rounds == 114
    assert str(record).splitlines()[-1].startswith("3 shards, mixed 2 times by rows: ")
    assert record.moved == (3 * 5 + 6 * 5 + 3 * 5 - 15) * 8
    assert record.moments() == []
