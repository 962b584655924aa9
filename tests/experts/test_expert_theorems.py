"""The theorems of expert algorithms against adversaries, with the bounds computed once more from the rounds themselves."""

import itertools
import math

import numpy as np
import pytest

import afterwit as aw
import naive_experts as naive
from afterwit.core.certificate import Verdict, evidence_of
from expert_cases import CASES, PLAIN, Case, plain


def all_of(learner):
    certificate = learner.certificate()
    return {each.theorem.name: each for each in (certificate, *certificate.others)}


def nothing_violated(learner, some=True):
    certificates = all_of(learner)
    for certificate in certificates.values():
        assert certificate.verdict is not Verdict.VIOLATED, str(certificate)
    assert not some or any(each.verdict is Verdict.HOLDS for each in certificates.values()), str(learner.certificate())
    return certificates


# ---------------------------------------------------------------------- sequences


def sequences(rounds, n, seed=0):
    """Losses in [0, 1] that are known to be hard for somebody."""
    random = np.random.default_rng(seed)
    t = np.arange(rounds)[:, np.newaxis]
    trap = ((t + np.arange(n)) % 2).astype(float)
    trap[:1] *= 0.5
    good = random.random((rounds, n))
    good[:, 0] *= 0.05
    shifting = (np.arange(n) != (t * 4 // max(rounds, 1)) % n).astype(float)
    return {
        "random": random.random((rounds, n)),
        "coins": random.integers(0, 2, (rounds, n)).astype(float),
        "alternating": ((t + np.arange(n)) % n == 0).astype(float),
        "one good expert": good,
        "trap for followers of the leader": trap,
        "always wrong": np.ones((rounds, n)),
        "never wrong": np.zeros((rounds, n)),
        "shifting": shifting,
        "rare": (random.random((rounds, n)) < 0.03).astype(float),
    }


def against_the_favourite(learner, rounds, seed=0, scale=lambda t: 1.0):
    """The expert with the largest weight loses everything; the others, something now and then."""
    random = np.random.default_rng(seed)
    rows = []
    for t in range(rounds):
        weights = learner.weights
        row = random.random(len(weights)) * random.integers(0, 2) * 0.2
        row[np.argmax(weights)] = 1.0
        rows.append(row * scale(t))
        learner.observe(rows[-1])
    return np.array(rows)


def jumping(t):
    """Units that change a millionfold, both ways."""
    return 10.0 ** (6 * math.sin(t * t))


WATCHERS = [
    Case("RandomizedWeightedMajority", {"beta": 0.5}),
    Case("RandomizedWeightedMajority", {"beta": 0.95}),
    Case("RandomizedWeightedMajority", {"horizon": 60}),
    Case("ExponentialWeights"),
    Case("ExponentialWeights", {"loss": "absolute"}),
    Case("ExponentialWeights", {"loss_range": (0.0, 1.0)}),
    Case("ExponentialWeights", {"schedule": "decreasing"}),
    Case("ExponentialWeights", {"schedule": "doubling"}),
    Case("ExponentialWeights", {"horizon": 60}),
    Case("ExponentialWeights", {"rate": 5.0}),
    Case("SecondOrderWeights", {"beta": 0.5}),
    Case("SecondOrderWeights", {"horizon": 60}),
    Case("PolynomialWeights", {"loss_range": (0.0, 1.0)}),
    Case("PolynomialWeights", {"power": 2}),
    Case("PolynomialWeights", {"power": 12}),
    Case("SleepingExperts", {"epsilon": 0.3}),
    Case("SleepingExperts", {"epsilon": 5.0}),
    Case("FixedShare", {"share": 0.05, "rate": 1.0, "shifts": 3}),
    Case("FixedShare", {"share": 0.8, "rate": 0.5, "shifts": 1}),
    Case("FixedShare", {"horizon": 60, "shifts": 4}),
    Case("AdaHedge", {"gradient": False}),
    Case("BOA", {"gradient": False}),
    Case("BOA", {"gradient": False, "loss_range": (0.0, 1.0)}),
    Case("MLpol", {"gradient": False}),
    Case("MLpol", {"gradient": False, "loss_range": (0.0, 1.0)}),
    Case("SwapRegret", base=Case("ExponentialWeights", {"horizon": 60})),
    Case("SwapRegret", base=Case("ExponentialWeights")),
    Case("SwapRegret", base=Case("SecondOrderWeights", {"beta": 0.7})),
    Case("SwapRegret", base=Case("BOA", {"gradient": False})),
    Case("SwapRegret", base=Case("MLpol", {"gradient": False})),
    Case("SwapRegret", base=Case("AdaHedge", {"gradient": False})),
    Case("SwapRegret", base=Case("RandomizedWeightedMajority", {"beta": 0.7})),
    Case("SwapRegret", base=Case("SleepingExperts", {"epsilon": 0.3})),
    Case("SwapRegret", base=Case("PolynomialWeights", {"power": 3})),
]
by_watcher = pytest.mark.parametrize("case", WATCHERS, ids=str)


@by_watcher
def test_bounds_hold_on_hard_sequences_at_every_length(case):
    for n in (1, 2, 5):
        for losses in sequences(60, n).values():
            learner = case.make(n)
            nothing_violated(learner)
            for begin, end in ((0, 1), (1, 2), (2, 3), (3, 8), (8, 20), (20, 60)):
                learner.observe_many(losses[begin:end])
                nothing_violated(learner)


@by_watcher
def test_bounds_hold_against_the_favourite(case):
    for n in (2, 4):
        learner = case.make(n)
        losses = against_the_favourite(learner, 60, seed=n)
        nothing_violated(learner)
        assert np.allclose(learner.expert_losses, losses.sum(axis=0))


@pytest.mark.parametrize("case", [case for case in WATCHERS if case.scale_free], ids=str)
def test_bounds_hold_where_units_jump_a_millionfold(case):
    for n in (2, 3):
        for seed in range(6):
            learner = case.make(n)
            against_the_favourite(learner, 80, seed, jumping)
            nothing_violated(learner)
        random = np.random.default_rng(n)
        for _ in range(10):
            learner = case.make(n)
            learner.observe_many(random.standard_normal((80, n)) * 10.0 ** random.integers(-6, 7, (80, 1)))
            nothing_violated(learner)
            learner.observe_many(random.standard_normal((80, n)) * 10.0 ** random.integers(-3, 4, (80, n)))
            nothing_violated(learner)


def test_adahedge_whose_leaders_are_far_ahead_learns_from_a_surprise():
    """The leader's rival has a share below all numbers when the leader loses far more than ever before."""
    learner = aw.AdaHedge(2, gradient=False)
    learner.observe_many(np.tile([1e-6, 0.0], (2000, 1)))
    learner.observe([1.0, 0.0])
    twin = naive.AdaHedge(2, gradient=False)
    for _ in range(2000):
        twin.watch([1e-6, 0.0])
    twin.watch([1.0, 0.0])
    for t in range(100):
        row = [0.0, 3.0 + (t > 0)] if t % 2 == 0 else [4.0, 0.0]
        learner.observe(row)
        twin.watch(row)
    nothing_violated(learner)
    assert math.isclose(learner.state()["delta"], twin.delta, rel_tol=1e-6)


# ---------------------------------------------------------------------- slopes


SLOPES = [case for case in CASES if case.gradient]


@pytest.mark.parametrize("case", SLOPES, ids=str)
def test_bounds_hold_where_outcomes_answer_the_forecasts(case):
    """The outcome is as far from the forecast as the loss allows; the regret is to the best of a grid of mixtures."""
    random = np.random.default_rng(3)
    for n in (1, 2, 3):
        learner = case.make(n)
        advice, outcomes = [], []
        for _ in range(60):
            row = random.uniform(0.1, 0.9, n)
            forecast = learner.predict_one(row)
            far = 0.5 if case.loss == "percentage" else 0.0
            outcomes.append(1.0 if forecast < (1 + far) / 2 else far)
            learner.learn_one(row, outcomes[-1])
            advice.append(row)
        certificates = nothing_violated(learner)
        mixtures = random.dirichlet(np.ones(n), 50)
        loss = aw.losses.get(case.loss)
        least = min(loss.values(np.array(advice) @ mixture, np.array(outcomes)).sum() for mixture in mixtures)
        for certificate in certificates.values():
            bounds = np.broadcast_to(certificate.theorem.regret_bound(evidence_of(learner))[0], n)
            if case.name != "FixedShare" or learner.parameters["shifts"] is None:
                assert learner.loss - least <= bounds.max() * (1 + 1e-9) + 1e-9


# ---------------------------------------------------------------------- sleepers


@pytest.mark.parametrize("case", [case for case in CASES if case.sleeping], ids=str)
def test_bounds_hold_for_sleepers_on_the_rounds_in_which_they_were_awake(case):
    for seed in range(4):
        random = np.random.default_rng(seed)
        learner = case.make(4)
        advice, outcomes = case.rounds(random, 60, 4, asleep=(0.3, 0.7, 0.9, 0.0)[seed])
        if seed == 2:  # the last sleeps at first, then is right
            advice[:30, -1] = np.nan
            advice[:30, 0] = case.rounds(random, 30, 4)[0][:, 0]
        learner.learn_many(advice, outcomes)
        nothing_violated(learner, some=False)


def test_the_bound_by_concavity_holds_for_an_expert_that_slept():
    """Shown the mixture's loss while it sleeps, the third expert would have a regret of 5.3, far above ln N / rate."""
    learner = aw.ExponentialWeights(3, rate=0.5)
    for t in range(400):
        learner.learn_one([0.0, 1.0, np.nan], t % 2)
    for _ in range(100):
        learner.learn_one([0.0, 0.0, 1.0], 1.0)
    certificate = nothing_violated(learner)["exp-concave bound"]
    assert certificate.verdict is Verdict.HOLDS
    assert certificate.bound == math.log(3) / 0.5
    assert learner.regret <= math.log(3) / 0.5


def against_sleepers(random, loss, n, rounds, make):
    """The learner's favourite is wrong, and those who are right in the end wake up late: advice and outcomes."""
    learner = make(n)
    for t in range(rounds):
        row = random.uniform(0.001, 0.999, n) if random.random() < 0.5 else random.choice([0.001, 0.5, 0.999], n)
        asleep = random.random(n) < random.choice([0.0, 0.5, 0.9])
        if t < rounds // 2:
            asleep[-1] = True
        asleep[int(random.integers(0, n - 1))] = False
        row[asleep] = np.nan
        outcome = float(learner.predict_one(row) < 0.5)
        if t >= rounds // 2:
            row[-1] = 0.001 + 0.998 * outcome
        if loss == "square" and random.random() < 0.2:
            outcome = random.random()
        learner.learn_one(row, outcome)
    return learner


SLEEPING_AT_A_RATE = [
    {"loss": "log"},
    {"loss": "log", "rate": 0.25},
    {"loss": "log", "rate": 7.0, "loss_range": (0.0, 7.0)},
    {"loss": "log", "horizon": 30, "loss_range": (0.0, 7.0)},
    {"loss": "square", "rate": 0.5},
    {"loss": "square", "rate": 0.1},
    {"loss": "square", "rate": 1.0, "loss_range": (-1.0, 1.0)},
    {"loss": "square", "horizon": 400},
    {"loss": "absolute", "rate": 0.5},
    {"loss": "square", "rate": 3.0},
]


@pytest.mark.parametrize("options", SLEEPING_AT_A_RATE, ids=str)
def test_bounds_at_a_fixed_rate_hold_for_sleepers_against_adversaries(options):
    """The exp-concave bound where the rate is small enough for the loss; the fixed rate bound where there is a range."""
    random = np.random.default_rng(8)
    low, high = options.get("loss_range", (0.0, 1.0))
    for _ in range(60 if aw.compiled else 6):
        n = int(random.integers(2, 6))
        learner = against_sleepers(random, options["loss"], n, 60, lambda n: aw.ExponentialWeights(n, **options))
        certificates = nothing_violated(learner)
        expected = options["loss"] != "absolute" and options.get("rate") != 3.0
        made = certificates.get("exp-concave bound")
        assert (made is not None and made.verdict is Verdict.HOLDS) is expected
        if expected:
            assert learner.regrets.max() <= math.log(n) / learner.state()["rate"] * (high - low) * (1 + 1e-9)
        if "loss_range" in options or options["loss"] != "log":
            assert certificates["fixed rate bound"].verdict is Verdict.HOLDS


def test_the_bound_for_sleepers_is_an_equality_for_the_log_loss_at_rate_1():
    """The weights of all experts together fall exactly as fast as those of a sleeper: the mean of exp(regret) is 1."""
    random = np.random.default_rng(9)
    for _ in range(200 if aw.compiled else 20):
        n, rounds = int(random.integers(2, 6)), int(random.integers(1, 40))
        advice = random.uniform(0.01, 0.99, (rounds, n))
        asleep = random.random((rounds, n)) < 0.4
        asleep[np.arange(rounds), random.integers(0, n, rounds)] = False
        learner = aw.ExponentialWeights(n, loss="log")
        learner.learn_many(np.where(asleep, np.nan, advice), random.integers(0, 2, rounds))
        assert math.isclose(np.exp(learner.regrets).mean(), 1.0, rel_tol=1e-10)
    # One that sleeps through a time of mistakes, and then alone is right: its regret comes to ln N.
    learner = aw.ExponentialWeights(4, loss="log")
    learner.learn_many(np.tile([0.9, 0.8, 0.3, np.nan], (20, 1)), np.zeros(20))
    learner.learn_many(np.tile([0.5, 0.5, 0.5, 1 - 1e-12], (60, 1)), np.ones(60))
    assert math.isclose(learner.regret, math.log(4), rel_tol=1e-9)
    assert learner.certificate().verdict is Verdict.HOLDS


def test_no_bound_by_concavity_for_a_model_whose_sleepers_were_shown_the_mixture():
    """A model file from before says in its sums what its sleepers were shown."""
    advice, outcomes = np.tile([0.0, 1.0, np.nan], (40, 1)), np.tile([0.0, 1.0], 20)
    learner = aw.ExponentialWeights(3, rate=0.5)
    learner.learn_many(advice, outcomes)
    assert all_of(learner)["exp-concave bound"].verdict is Verdict.HOLDS
    state = learner.state()
    # The mixture's loss is 1/2 in every round, the forecast's at most 1/4 while the weights are nearly equal.
    learner.restore({**state, "cumulative": np.array([20.0, 20.0, 20.0])})
    certificates = all_of(learner)
    assert certificates["exp-concave bound"].verdict is Verdict.NOT_APPLICABLE
    assert certificates["exp-concave bound"].bound is None
    assert "sleepers were shown the mixture's loss" in certificates["exp-concave bound"].line()
    assert certificates["fixed rate bound"].verdict is Verdict.HOLDS


# ---------------------------------------------------------------------- the bounds, computed anew


def bounds_of(case, losses):
    """The bounds by name, from the losses and the slow twin alone; losses are in [0, 1]."""
    rounds, n = losses.shape
    log_n, options = math.log(n), case.options
    twin = case.naive(n)
    shares, gains = [], []
    for row in losses:
        shares.append(twin.weights)
        own = twin.watch(plain(row))
        gains.append(own - row)
    gains = np.array(gains).reshape(rounds, n)
    total = losses.sum(axis=0)
    largest = np.abs(gains).max(initial=0)
    if case.name == "RandomizedWeightedMajority":
        found = {"expected loss bound": log_n / (1 - twin.beta) + (2 - twin.beta) * total.min()}
        if "horizon" in options:
            found["horizon bound"] = 2 * math.sqrt(options["horizon"] * log_n)
        return found
    if case.name == "ExponentialWeights":
        if options.get("schedule") == "doubling":
            factor = math.sqrt(2) / (math.sqrt(2) - 1)
            return {"doubling bound": factor * math.sqrt(rounds / 2 * log_n) + math.sqrt(log_n / 2)}
        if twin.adaptive:
            rate = twin.adaptive_rate()
            return {"adaptive rate bound": (log_n / rate if rate else 0.0) + twin.cost}
        if "rate" not in options and "horizon" not in options:
            return {"decreasing rate bound": 2 * math.sqrt(rounds / 2 * log_n) + math.sqrt(log_n / 8)}
        return {"fixed rate bound": log_n / twin.fixed + twin.fixed * rounds / 8}
    if case.name == "SecondOrderWeights":
        step = 1 - twin.beta
        per_expert = log_n / step + step * (losses**2).sum(axis=0)
        best = np.argmax(gains.sum(axis=0))
        found = {
            "second-order bound": per_expert[best],
            "general second-order bound": log_n / step + step * rounds / (2 * twin.beta),
        }
        if "horizon" in options:
            found["horizon bound"] = 2 * math.sqrt(options["horizon"] * log_n)
        return found
    if case.name == "PolynomialWeights":
        power = twin.power
        norms = (np.abs(gains) ** power).sum(axis=1) ** (1 / power)
        M = 1.0 if "loss_range" in options else largest
        return {
            "regret norm bound": math.sqrt((power - 1) * (norms**2).sum()),
            "polynomial bound": M * math.sqrt((power - 1) * rounds * n ** (2 / power)),
        }
    if case.name == "SleepingExperts":
        e = options["epsilon"]
        return {"sleeping experts bound": (1 + e) * total.min() + (1 + e) * log_n / math.log(1 + e)}
    if case.name == "FixedShare":
        m, a, eta = options["shifts"], twin.share, twin.rate
        cost = (m + 1) * log_n + m * math.log(1 / a) + max(rounds - m - 1, 0) * math.log(1 / (1 - a))
        # The best sequence with so many shifts.
        best = naive.best_segments(losses.tolist(), m) if rounds else 0.0
        small = (eta * best + cost) / (1 - math.exp(-eta)) - best
        return {"tracking bound": cost / eta + eta * rounds / 8, "tracking bound, small losses": small}
    if case.name == "AdaHedge":
        spans = losses.max(axis=1) - losses.min(axis=1)
        S = spans.max(initial=0)
        return {"AdaHedge bound": math.sqrt(log_n * (spans**2).sum()) + S * (4 / 3 * log_n + 2)}
    if case.name == "MLpol":
        start = 1.0 if "loss_range" in options else 0.0
        growth, B, squares, regrets = 0.0, start, np.zeros(n), np.zeros(n)
        for row in gains:
            after = max(B, (row**2).max())
            for i in range(n):
                rate = 1 / (B + squares[i]) if regrets[i] > 1e-12 else 1 / (after + squares[i] + row[i] ** 2)
                growth += rate * row[i] ** 2
            B, squares, regrets = after, squares + row**2, regrets + row
        per_expert = np.sqrt((B + squares) * growth)
        found = {"polynomial potential bound": per_expert[np.argmax(gains.sum(axis=0))]}
        if start:
            found["ML-Poly bound"] = math.sqrt((1 + rounds) * n * (1 + math.log(1 + rounds)))
        return found
    assert case.name == "BOA"
    start = 1.0 if "loss_range" in options else 0.0
    scaled_away = max(largest, start) - start
    history = [[rate for _, rate in twin.history[i]] + [twin.rate(i)] for i in range(n)]
    ratios = sum(a / b - 1 for rates in history for a, b in itertools.pairwise(rates))
    W = 1 + ratios / n / math.e
    penalties = [sum(rate * gain**2 for gain, rate in twin.history[i]) for i in range(n)]
    per_expert = np.array([scaled_away + penalties[i] + (log_n + math.log(W)) / twin.rate(i) for i in range(n)])
    found = {"Bernstein bound": per_expert[np.argmax(gains.sum(axis=0))]}
    if start:
        W = 1 + (1 + 1 / (4 * log_n)) * (1 + math.log(1 + rounds)) / (2 * math.e)
        found["ranged Bernstein bound"] = (
            2 * math.sqrt(rounds * log_n) + 0.5 + (log_n + math.log(W)) * (2 + math.sqrt(rounds / log_n))
        )
    return found


@pytest.mark.parametrize("case", [case for case in WATCHERS if case.name != "SwapRegret"], ids=str)
def test_the_bounds_are_those_of_the_literature(case):
    for name in ("random", "one good expert", "shifting"):
        losses = sequences(40, 3, seed=4)[name]
        learner = case.make(3)
        learner.observe_many(losses)
        certificates = all_of(learner)
        expected = bounds_of(case, losses)
        assert set(certificates) == set(expected)
        for theorem, bound in expected.items():
            assert math.isclose(certificates[theorem].bound, bound, rel_tol=1e-6), theorem
        if case.name == "FixedShare":
            best = naive.best_segments(losses.tolist(), case.options["shifts"])
            assert math.isclose(learner.certificate().observed, learner.loss - best, abs_tol=1e-9)


@pytest.mark.parametrize("name", ["SecondOrderWeights", "RandomizedWeightedMajority"])
def test_the_bound_for_a_horizon_is_not_claimed_after_more_rounds(name):
    """2 sqrt(T ln N) holds up to round T; of the rounds after it, it says nothing."""
    learner = getattr(aw, name)(2, horizon=10)
    learner.observe_many(np.tile([0.0, 1.0], (10, 1)))
    assert all_of(learner)["horizon bound"].bound == 2 * math.sqrt(10 * math.log(2))
    learner.observe([0.0, 1.0])
    certificates = nothing_violated(learner)
    assert "horizon bound" not in certificates
    # And indeed: in turn one and the other err, so that the regret grows by a part of each round.
    late = getattr(aw, name)(2, horizon=2)
    rows = against_the_favourite(late, 400)
    assert late.loss - rows.sum(axis=0).min() > 2 * math.sqrt(2 * math.log(2))
    nothing_violated(late)


def test_bounds_are_in_the_unit_of_the_losses():
    """A range ten times as wide, and elsewhere: bounds on regret grow tenfold, bounds on the loss move along."""
    losses = sequences(40, 3, seed=5)["random"]
    for case in WATCHERS:
        if case.name in ("AdaHedge", "SwapRegret") or (case.scale_free and case.name != "PolynomialWeights"):
            continue
        if case.adaptive:  # that squares are exp-concave depends on where their range is
            continue
        options = {**case.options, "loss_range": (-3.0, 7.0)}
        unit = Case(case.name, {**case.options, "loss_range": (0.0, 1.0)}).make(3)
        wide = Case(case.name, options).make(3)
        unit.observe_many(losses)
        wide.observe_many(losses * 10 - 3)
        assert np.allclose(unit.weights, wide.weights)
        for theorem, certificate in all_of(wide).items():
            moved = -3 * 40 if certificate.quantity == "loss" else 0
            assert math.isclose(certificate.bound, all_of(unit)[theorem].bound * 10 + moved, rel_tol=1e-9), theorem


# ---------------------------------------------------------------------- one by one


@pytest.mark.parametrize("n", [1, 2, 8, 64])
def test_halving_makes_exactly_log2_n_mistakes(n):
    """In each round half of those still right say 1, and the vote, a tie, says 1 too; it is 0."""
    learner = aw.WeightedMajority(n, beta=0)
    codes = np.arange(n)
    for bit in range(int(math.log2(n))):
        assert learner.learn_one((codes >> bit) & 1, 0) == 1.0
    certificate = learner.certificate()
    assert (certificate.observed, certificate.bound) == (math.log2(n), math.log2(n))
    assert certificate.verdict is Verdict.HOLDS


@pytest.mark.parametrize("beta", [0, 0.25, 0.5, 0.95])
def test_weighted_majority_against_an_adversary_that_always_contradicts(beta):
    random = np.random.default_rng(6)
    for n in (1, 2, 7):
        learner = aw.WeightedMajority(n, beta=beta)
        for t in range(60):
            advice = random.integers(0, 3 if t % 2 else 2, n)
            learner.learn_one(advice, 1.0 - min(learner.predict_one(advice), 1.0))
        least = learner.expert_losses.min()
        certificate = learner.certificate()
        assert certificate.observed == learner.mistakes >= 55
        if beta:
            bound = (math.log(n) + least * math.log(1 / beta)) / math.log(2 / (1 + beta))
            assert math.isclose(certificate.bound, bound)
            assert certificate.verdict is Verdict.HOLDS
        else:
            assert certificate.verdict is Verdict.NOT_APPLICABLE
            assert "the best makes" in str(certificate)


def test_the_bound_of_the_log_loss_is_reached():
    """All but one of the experts are as good as surely wrong: the regret is ln N, and so is the bound."""
    learner = aw.ExponentialWeights(16, loss="log")
    learner.learn_one([1 - 1e-9] + [1e-9] * 15, 1)
    assert math.isclose(learner.regret, math.log(16), rel_tol=1e-6)
    assert math.isclose(learner.certificate().bound, math.log(16))
    nothing_violated(learner)


def test_the_fixed_rate_bound_is_nearly_reached_in_one_round():
    learner = aw.ExponentialWeights(2, loss="absolute", horizon=1)
    learner.observe([0.0, 1.0])
    certificate = learner.certificate()
    assert 0.84 * certificate.bound < certificate.observed <= certificate.bound


def test_exp_concave_bounds_ask_for_a_rate_that_is_small_enough():
    for options, applies in (
        ({"rate": 0.5}, True),
        ({"rate": 0.6}, False),
        ({"rate": 2.0, "loss_range": (0.0, 4.0)}, False),
        ({"rate": 0.5, "loss_range": (0.0, 4.0)}, True),
        ({"loss": "log", "rate": 1.0}, True),
        ({"loss": "log", "rate": 1.1}, False),
        ({"loss": "log", "rate": 3.0, "loss_range": (0.0, 3.0)}, True),
        ({"loss": "log", "rate": 3.2, "loss_range": (0.0, 3.0)}, False),
    ):
        case = Case("ExponentialWeights", options)
        advice, outcomes = case.rounds(np.random.default_rng(7), 50, 5)
        learner = case.make(5)
        learner.learn_many(advice, outcomes)
        certificates = nothing_violated(learner, some=False)
        low, high = options.get("loss_range", (0.0, 1.0))
        unit = high - low if "loss_range" in options else 1.0
        assert (certificates["exp-concave bound"].verdict is Verdict.HOLDS) is applies, options
        if applies:
            assert math.isclose(certificates["exp-concave bound"].bound, math.log(5) * unit / options["rate"])
        else:
            assert certificates["exp-concave bound"].bound is None
    square = aw.ExponentialWeights(5, rate=0.5)
    square.learn_many(*Case("ExponentialWeights").rounds(np.random.default_rng(8), 50, 5))
    assert square.certificate().theorem.name == "exp-concave bound"
    absolute = aw.ExponentialWeights(5, rate=0.5, loss="absolute")
    assert "exp-concave bound" not in all_of(absolute)


@pytest.mark.parametrize("n", [2, 3])
def test_fixed_share_compares_with_the_best_sequence_of_experts(n):
    random = np.random.default_rng(n)
    for shifts in (0, 1, 2, 4):
        for rounds in (1, 2, 6):
            losses = random.integers(0, 3, (rounds, n)) / 2
            learner = aw.FixedShare(n, share=0.2, rate=1.0, shifts=shifts)
            learner.observe_many(losses)
            best = naive.best_shifting(losses.tolist(), shifts)
            assert math.isclose(best, naive.best_segments(losses.tolist(), shifts))
            assert math.isclose(learner.certificate().observed, learner.loss - best, abs_tol=1e-12)
            assert math.isclose(learner.certificate().hindsight.value, best, abs_tol=1e-12)
    # A sleeper in the sequence costs what the learner itself lost.
    learner = aw.FixedShare(2, share=0.2, rate=1.0, shifts=2)
    rows = [[0.0, 1.0], [np.nan, 1.0], [1.0, np.nan], [1.0, 0.0]]
    paths = [[own if np.isnan(v) else v for v in row] for row in rows for own in [learner.observe(row)]]
    assert math.isclose(learner.certificate().hindsight.value, naive.best_shifting(paths, 2), abs_tol=1e-12)
    nothing_violated(learner)


def test_fixed_share_tracks_where_the_best_expert_changes():
    for m in (1, 3, 7):
        losses = (np.arange(4) != (np.arange(200) * (m + 1) // 200 % 4)[:, np.newaxis]).astype(float)
        learner = aw.FixedShare(4, horizon=200, shifts=m)
        learner.observe_many(losses)
        certificate = learner.certificate()
        assert certificate.verdict is Verdict.HOLDS
        assert certificate.observed == learner.loss, "the best sequence loses nothing"
        assert "shifts" in certificate.hindsight.description


@pytest.mark.parametrize("case", [case for case in WATCHERS if case.name == "SwapRegret"], ids=str)
def test_swap_regret_is_that_of_all_maps_and_below_the_sum_of_the_bounds(case):
    for name, losses in sequences(30, 3, seed=9).items():
        learner, twin = case.make(3), case.naive(3)
        learner.observe_many(losses)
        for row in losses.tolist():
            twin.watch(row)
            if twin.fragile:
                break
        else:
            assert np.allclose(learner.weights, twin.weights, atol=1e-8), name
            assert math.isclose(learner.swap_regret, twin.swap_regret, rel_tol=1e-8, abs_tol=1e-9)
            assert math.isclose(learner.internal_regret, twin.internal_regret, rel_tol=1e-8, abs_tol=1e-9)
        assert learner.internal_regret - 1e-9 <= learner.swap_regret <= 3 * learner.internal_regret + 1e-9
        assert learner.regret <= learner.swap_regret + 1e-9
        nothing_violated(learner)
    fixed = aw.SwapRegret(aw.ExponentialWeights(3, rate=0.5))
    fixed.observe_many(sequences(30, 3)["coins"])
    assert math.isclose(all_of(fixed)["sum of the base bounds"].bound, 3 * (math.log(3) / 0.5 + 0.5 * 30 / 8))
    assert math.isclose(fixed.certificate().bound, 3 * math.log(3) / 0.5 + 0.5 * 30 / 8)


def test_swap_regret_where_copies_are_sure():
    """The proposals of a copy sink below the normal numbers: the fixed point stays one."""
    learner = aw.SwapRegret(aw.ExponentialWeights(3, rate=50.0))
    for t in range(120):
        weights = learner.weights
        assert np.isfinite(weights).all()
        assert (weights >= 0).all()
        assert math.isclose(weights.sum(), 1)
        learner.observe([[1.0, 0.9, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]][t * t // 7 % 3])
    nothing_violated(learner)


@pytest.mark.parametrize("options", [{}, {"horizon": 60}, {"rate": 0.15}], ids=str)
def test_exp3_on_average_over_its_draws(options):
    for name in ("one good expert", "shifting", "trap for followers of the leader", "coins"):
        losses = sequences(60, 3, seed=10)[name]
        runs = [aw.Exp3(3, seed=seed, **options) for seed in range(60)]
        for run in runs:
            run.observe_many(losses)
        certificate = runs[0].certificate()
        expected = {
            "horizon": math.sqrt(2 * 60 * 3 * math.log(3)),
            "rate": math.log(3) / 0.15 + 0.15 * 60 * 3 / 2,
            "": 2 * math.sqrt(60 * 3 * math.log(3)),
        }["".join(options)]
        assert math.isclose(certificate.bound, expected)
        assert np.mean([run.regrets for run in runs], axis=0).max() <= certificate.bound
        assert {str(run.certificate().verdict) for run in runs} == {"holds"}, "one run cannot refute it"
    # The estimates are right on average: so is the loss.
    means = np.mean([run.state()["estimates"] for run in runs], axis=0)
    assert np.allclose(means, losses.sum(axis=0), rtol=0.25)


def test_exp3_of_which_only_one_loss_is_seen_has_no_known_regret():
    learner = aw.Exp3(3, horizon=10)
    learner.receive(0.5)
    certificate = learner.certificate()
    assert certificate.verdict is Verdict.NOT_APPLICABLE
    assert "the regret is not known" in str(certificate)
    assert certificate.to_dict()["observed"] is None


@pytest.mark.parametrize("case", PLAIN, ids=str)
def test_no_algorithm_beats_two_coins(case):
    """Mohri et al., Theorem 8.5: on two experts of whom a coin says which one is right, regret >= sqrt(T/8) on average."""
    rounds, runs = 36, 100
    if case.name == "SwapRegret":
        runs = 40
    total = 0.0
    for seed in range(runs):
        learner = case.make(2)
        coins = np.random.default_rng(1000 + seed).integers(0, 2, rounds).astype(float)
        if learner.takes_losses:
            learner.observe_many(np.column_stack([coins, 1 - coins]))
        else:
            learner = learner if case.loss in ("zero-one", "absolute") else learner.clone({"loss": "absolute"})
            learner.learn_many(np.tile([0.0, 1.0], (rounds, 1)), coins)
        total += learner.regret
    assert total / runs >= math.sqrt(rounds / 8) * 0.85


def test_a_certificate_from_the_rounds_themselves():
    random = np.random.default_rng(12)
    advice, outcomes = random.random((30, 3)), random.random(30)
    learner = aw.ExponentialWeights(["a", "b", "c"])
    learner.learn_many(advice, outcomes)
    assert learner.certificate(advice, outcomes) == learner.certificate()
    for wrong in ((advice[:-1], outcomes[:-1]), (advice[:, ::-1], outcomes), (advice, outcomes[::-1])):
        with pytest.raises(aw.errors.InputError, match="the rounds the learner learned from"):
            learner.certificate(*wrong)
    with pytest.raises(aw.errors.InputError, match="outcomes must be given together with advice"):
        learner.certificate(advice)
    tracking = aw.FixedShare(3, horizon=30, shifts=2)
    tracking.learn_many(advice, outcomes)
    losses = aw.losses.get("square").values(advice, outcomes[:, np.newaxis])
    certificate = tracking.certificate(advice, outcomes)
    assert math.isclose(certificate.hindsight.value, naive.best_segments(losses.tolist(), 2))


def test_a_certificate_of_frames_with_numbered_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.random.default_rng(13).random((9, 2)))
    learner = aw.ExponentialWeights(2)
    learner.learn_many(frame, frame[0])
    assert learner.certificate(frame, frame[0]) == learner.certificate()


@pytest.mark.parametrize("name", ["BOA", "MLpol"])
def test_swap_regret_adds_the_bounds_for_those_to_whom_the_regrets_are_largest(name):
    """Where each expert has a bound of its own, the one that comes closest to breaking it need not be the best."""
    random = np.random.default_rng(56)
    random.integers(2, 5), random.choice([30, 100, 300])
    losses = random.random((300, 3)) * random.random(3) ** 3
    learner = aw.SwapRegret(getattr(aw, name)(3, gradient=False))
    learner.observe_many(losses)
    nothing_violated(learner)
    evidence = evidence_of(learner)
    parts = next(theorem for theorem in learner.theorems if theorem.name == "sum of the base bounds").parts(evidence)
    assert math.isclose(sum(part.observed for part in parts), learner.swap_regret, rel_tol=1e-9)
    assert all(part.observed <= part.bound for part in parts)
    assert math.isclose(sum(part.bound for part in parts), learner.certificate().bound)


def played_losses(learner, losses):
    """By the shares in every round, the loss of j weighted by how much i was played: what copy i is shown of j."""
    shown = 0.0
    for row in losses:
        shown = shown + np.outer(learner.weights, row)
        learner.observe(row)
    return shown


def test_swap_regret_over_a_base_whose_theorem_bounds_the_loss():
    """A bound on the loss of a copy, less the loss of the expert to be played in its place, bounds its regret."""
    losses = sequences(60, 3, seed=6)["random"] * [1.0, 0.3, 1.0]
    learner = aw.SwapRegret(aw.RandomizedWeightedMajority(3, beta=0.7))
    least = played_losses(learner, losses).min(axis=1)
    certificate = learner.certificate()
    expected = 3 * math.log(3) / 0.3 + 0.3 * least.sum()
    assert math.isclose(certificate.bound, expected, rel_tol=1e-9)
    assert certificate.verdict is Verdict.HOLDS
    learner = aw.SwapRegret(aw.SleepingExperts(3, epsilon=0.5), loss_range=(0, 2))
    least = played_losses(learner, losses).min(axis=1)
    expected = 2 * 3 * 1.5 * math.log(3) / math.log(1.5) + 0.5 * least.sum()
    assert math.isclose(learner.certificate().bound, expected, rel_tol=1e-9)
    # A factor below 1/2 has no theorem: then there is no bound either.
    learner = aw.SwapRegret(aw.RandomizedWeightedMajority(3, beta=0.3))
    learner.observe_many(losses)
    certificate = learner.certificate()
    assert (certificate.verdict, certificate.bound) == (Verdict.NOT_APPLICABLE, None)
    assert "beta is 0.3" in " ".join(certificate.why_not())


@pytest.mark.parametrize("name", ["AdaHedge", "BOA", "MLpol"])
@pytest.mark.parametrize("loss", ["square", "absolute", "pinball(0.2)"])
def test_rounding_is_no_regret_to_the_best_mixture(name, loss):
    """With one expert, or equal ones, the bound is 0, and the two sums differ in their last digits."""
    random = np.random.default_rng(0)
    outcomes = 1e9 * random.normal(size=500)
    advice = (outcomes + 1e9 * random.normal(size=500))[:, np.newaxis]
    for n in (1, 3):
        learner = getattr(aw, name)(n, loss=loss)
        learner.learn_many(np.repeat(advice, n, axis=1), outcomes)
        made = learner.certificate(np.repeat(advice, n, axis=1), outcomes)
        assert (made.bound, made.observed, made.verdict.value) == (0.0, 0.0, "holds")
