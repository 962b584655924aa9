"""The numbers of the pictures of expert runs against slow oracles."""

import math

import numpy as np
import pytest

import afterwit as aw
import naive_pictures as naive
from afterwit.core.certificate import shown_number
from afterwit.experts import play, play_losses
from expert_cases import advice_rounds


def table(record, kind):
    """The rows of a table as a dict from the first cell of each, and its heads."""
    made = record.pictures()[kind].table()
    return {row[0]: row[1:] for row in made.rows}, made.heads


def shown(value):
    return "" if value is None or math.isnan(value) else shown_number(float(value))


def percent(value):
    return f"{value:.1%}"


@pytest.fixture(params=[0.0, 0.4], ids=["awake", "sleepers"])
def rounds(request):
    return advice_rounds(300, 5, asleep=request.param)


@pytest.fixture
def record(rounds):
    return play(aw.MLpol(["a", "b", "c", "d", "e"]), *rounds)


# ---------------------------------------------------------------------- the numbers


def test_regret_is_that_to_the_best_expert_so_far(record):
    found, heads = table(record, "regret")
    regrets = naive.regrets(record.losses.tolist(), record.expert_losses.tolist())
    at = naive.powers(300)
    assert heads[:4] == ("rounds", "regret", "bound", "best expert so far")
    assert list(found) == [f"{t:,}" for t in at]
    for t in at:
        best = naive.best(regrets[t - 1])
        assert found[f"{t:,}"][0] == shown(regrets[t - 1][best])
        assert found[f"{t:,}"][2] == "abcde"[best]


def certified_alone(make, advice, outcomes, quantities=("regret",)):
    """The tightest bound on the regret of a learner that has learned these rounds and no others."""
    learner = make()
    learner.learn_many(advice, outcomes)
    made = learner.certificate()
    return min(each.bound for each in (made, *made.others) if each.quantity in quantities and each.bound is not None)


@pytest.mark.parametrize(
    ("make", "quantities"),
    [
        (lambda: aw.MLpol(5), ["regret"]),
        (lambda: aw.MLpol(5, loss_range=(-2, 2)), ["regret"]),
        (lambda: aw.BOA(5), ["regret"]),
        (lambda: aw.AdaHedge(5), ["regret"]),
        (lambda: aw.ExponentialWeights(5), ["regret"]),
        (lambda: aw.ExponentialWeights(5, loss="absolute"), ["regret"]),
        (lambda: aw.FixedShare(5), ["regret"]),
        (lambda: aw.StronglyAdaptive(5), ["regret"]),
        (lambda: aw.AggregatingAlgorithm(5, loss="square", outcomes=(0, 1)), ["largest regret"]),
        (lambda: aw.SwapRegret(aw.ExponentialWeights(5, loss="absolute", rate=0.3)), ["swap regret"]),
    ],
)
def test_the_bound_at_a_moment_is_that_of_a_learner_that_ended_there(make, quantities):
    advice, outcomes = advice_rounds(300, 5)
    found, _ = table(play(make(), advice, outcomes), "regret")
    for t in naive.powers(300):
        bound = certified_alone(make, advice[:t], outcomes[:t], quantities)
        assert found[f"{t:,}"][1].removesuffix(" (vacuous)") == shown(bound)


def test_a_bound_on_mistakes_bounds_the_regret_when_those_of_the_best_are_taken_off():
    advice, outcomes = (np.round(each) for each in advice_rounds(40, 3))
    record = play(aw.WeightedMajority(3, beta=0.5), advice, outcomes)
    found, _ = table(record, "regret")
    assert found["40"][1].removesuffix(" (vacuous)") == shown(
        record.certificate.bound - np.sum(record.expert_losses, axis=0).min()
    )


def test_moments_are_every_round_of_a_short_run_and_few_of_a_long_one():
    record = play(aw.MLpol(2), *advice_rounds(300, 2))
    assert [made.rounds for made in record.moments()] == list(range(1, 301))
    long = play(aw.MLpol(2), *advice_rounds(5000, 2))
    ends = [made.rounds for made in long.moments()]
    assert ends == sorted({*range(13, 5000, 13), *(1 << k for k in range(13)), 5000})
    assert long.moments()[-1] == long.certificate


def test_moments_of_algorithms_made_of_others_are_few(monkeypatch):
    learner = aw.SwapRegret(aw.ExponentialWeights(3, loss="absolute", rate=0.3))
    advice, outcomes = advice_rounds(100, 3)
    assert [made.rounds for made in play(learner.copy(), advice, outcomes).moments()] == naive.powers(100)
    monkeypatch.setattr("afterwit.experts._played.MOST_COPIES", 2)
    record = play(learner, advice, outcomes)
    assert record.moments() == []
    found, _ = table(record, "regret")
    assert found["100"][1].removesuffix(" (vacuous)") == shown(record.certificate.bound)


def test_moments_of_many_rounds_end_early_and_the_picture_has_the_last(monkeypatch):
    monkeypatch.setattr("afterwit.experts._played.MOST_VALUES", 200)
    record = play(aw.MLpol(2), *advice_rounds(300, 2))
    assert record.moments()[-1].rounds == 100
    found, _ = table(record, "regret")
    assert found["128"][1] == ""
    assert found["300"][1].removesuffix(" (vacuous)") == shown(record.certificate.bound)


def test_the_mixture_in_the_picture_is_the_best_one_of_all_rounds():
    advice, outcomes = advice_rounds(300, 5)
    record = play(aw.MLpol(5), advice, outcomes)
    found, heads = table(record, "regret")
    best = aw.hindsight.best_convex_combination(advice, outcomes)
    lost = naive.so_far(((advice @ best.vector - outcomes) ** 2).tolist())
    experts = np.cumsum((advice - outcomes[:, np.newaxis]) ** 2, axis=0).min(axis=1)
    assert heads[-1] == "best mixture"
    for t in naive.powers(300):
        assert found[f"{t:,}"][3] == shown(lost[t - 1] - experts[t - 1])


def test_there_is_no_mixture_of_sleepers_or_of_too_much_advice(monkeypatch):
    assert play(aw.MLpol(5), *advice_rounds(30, 5, asleep=0.5)).best_mixture is None
    record = play(aw.MLpol(5), *advice_rounds(30, 5))
    assert record.best_mixture.rounds == 30
    monkeypatch.setitem(pytest.importorskip("afterwit.experts._played").MOST_MIXED, "square", 100)
    assert play(aw.MLpol(5), *advice_rounds(30, 5)).best_mixture is None


def test_losses_are_means_over_the_rounds_in_which_an_expert_was_awake(record, rounds):
    found, _ = table(record, "losses")
    advice, outcomes = rounds
    expected = {name: naive.mean_loss(record.expert_losses[:, i].tolist()) for i, name in enumerate("abcde")}
    expected["MLpol"] = naive.mean_loss(record.losses.tolist())
    means = [naive.mean_advice(row) for row in advice.tolist()]
    expected["mean of the experts"] = naive.mean_loss([(m - y) ** 2 for m, y in zip(means, outcomes, strict=True)])
    if not np.isnan(advice).any():
        expected["best mixture"] = record.best_mixture.loss / 300
    assert {name: cells[0] for name, cells in found.items()} == {
        name: shown(math.sqrt(value)) for name, value in expected.items()
    }
    assert list(found) == sorted(expected, key=expected.get)


def test_of_three_hundred_experts_the_best_and_the_worst_are_listed():
    record = play(aw.MLpol(300), *advice_rounds(50, 300))
    rows = record.pictures()["losses"].table().rows
    names = [name for name, _ in rows if name.startswith("expert ")]
    order = np.argsort(record.expert_losses.mean(axis=0)).tolist()
    assert names == [f"expert {i}" for i in (*order[:10], *order[-4:])]
    assert ("286 experts between", "") in rows


def test_loss_over_time_is_the_mean_so_far_and_lately(record, rounds):
    found, heads = table(record, "loss")
    own = record.losses.tolist()
    best = record.expert_losses[:, record.experts.index(record.best_expert)].tolist()
    means = [(naive.mean_advice(row) - y) ** 2 for row, y in zip(rounds[0].tolist(), rounds[1], strict=True)]
    for t in naive.powers(300):
        cells = dict(zip(heads[1:], found[f"{t:,}"], strict=True))
        of_best = naive.mean_loss(best[:t])
        assert cells["learner"] == shown(math.sqrt(naive.means_so_far(own)[t - 1]))
        assert cells["learner, last eighth"] == shown(math.sqrt(naive.lately(own)[t - 1]))
        assert cells["mean of the experts"] == shown(math.sqrt(naive.means_so_far(means)[t - 1]))
        assert cells["best expert"] == ("" if of_best is None else shown(math.sqrt(of_best)))


def test_the_promised_loss_is_what_the_bound_leaves_room_for():
    record = play_losses(aw.ExponentialWeights(3, loss="absolute"), advice_rounds(100, 3)[0])
    found, heads = table(record, "loss")
    bound = record.certificate.bound
    assert heads[-1] == "bound"
    assert found["100"][-1] == shown((record.expert_losses.sum(axis=0).min() + bound) / 100)


def test_weights_are_the_shares_of_the_rounds(record):
    found, heads = table(record, "weights")
    names = list(heads[1:])
    assert sorted(names) == list("abcde")
    assert names == sorted("abcde", key=lambda name: -record.shares[:, "abcde".index(name)].mean())
    for t in naive.powers(300):
        expected = [percent(record.shares[t - 1]["abcde".index(name)]) for name in names]
        assert list(found[f"{t:,}"]) == expected


def test_many_experts_are_one_area_but_for_the_largest():
    record = play(aw.MLpol(64), *advice_rounds(100, 64))
    found, heads = table(record, "weights")
    assert len(heads) == 9
    assert heads[-1] == "others (57)"
    order = np.argsort(-record.shares.mean(axis=0), kind="stable")
    assert heads[1:8] == tuple(f"expert {i}" for i in order[:7])
    assert found["100"][-1] == percent(record.shares[99][order[7:]].sum())


def test_contributions_are_shares_times_advice_and_add_up_to_the_forecast(record, rounds):
    found, heads = table(record, "contributions")
    for t in naive.powers(300):
        cells = dict(zip(heads[1:], found[f"{t:,}"], strict=True))
        for i, name in enumerate("abcde"):
            advice = rounds[0][t - 1, i]
            assert cells[name] == shown(0.0 if math.isnan(advice) else record.shares[t - 1, i] * advice)
        assert cells["forecast"] == shown(record.forecasts[t - 1])
        assert cells["outcome"] == shown(rounds[1][t - 1])


def test_shares_are_spread_as_their_quantiles_say(record):
    found, heads = table(record, "shares")
    assert heads == ("expert", "mean share", *(f"{level}% quantile" for level in (5, 25, 50, 75, 95)))
    for i, name in enumerate("abcde"):
        shares = record.shares[:, i].tolist()
        quantiles = [naive.quantile(shares, level) for level in (0.05, 0.25, 0.5, 0.75, 0.95)]
        assert found[name] == tuple(map(percent, (naive.mean_loss(shares), *quantiles)))
    many, _ = table(play(aw.MLpol(20), *advice_rounds(30, 20)), "shares")
    assert len(many) == 17
    assert "4 experts with less" in many


def test_leaders_are_counted_in_rounds(record):
    found, _ = table(record, "leaders")
    leads = naive.leads(record.shares.tolist())
    regrets = naive.regrets(record.losses.tolist(), record.expert_losses.tolist())
    best = naive.leads([[-math.inf if each is None else each for each in row] for row in regrets])
    for i, name in enumerate("abcde"):
        if max(leads[i], best[i]) >= 0.005:
            assert found[name] == (percent(leads[i]), percent(best[i]))
    if max(leads[-1], best[-1]) >= 0.005:
        assert found["several alike"] == (percent(leads[-1]), percent(best[-1]))


def test_residuals_are_sums_of_forecast_less_outcome(record, rounds):
    found, heads = table(record, "residuals")
    advice, outcomes = rounds
    means = [naive.mean_advice(row) for row in advice.tolist()]
    lines = {"learner": record.forecasts - outcomes, "mean of the experts": np.array(means) - outcomes}
    for i, name in enumerate("abcde"):
        lines[name] = np.where(np.isnan(advice[:, i]), 0.0, advice[:, i] - outcomes)
    regrets = naive.regrets(record.losses.tolist(), record.expert_losses.tolist())[-1]
    best = sorted("abcde", key=lambda name: -regrets["abcde".index(name)])
    assert heads[1:] == ("learner", "mean of the experts", *best[:3])
    for t in naive.powers(300):
        expected = [shown(naive.so_far(lines[name].tolist())[t - 1]) for name in heads[1:]]
        assert list(found[f"{t:,}"]) == expected


@pytest.mark.parametrize("method", ["adaptive", "tracking"])
def test_coverage_is_counted_and_lies_where_the_theorem_says(method):
    advice, outcomes = advice_rounds(300, 3)

    def make():
        return aw.ConformalIntervals(aw.MLpol(3), coverage=0.8, method=method, rate=0.05)

    record = play(make(), advice, outcomes)
    found, _ = table(record, "coverage")
    covered = naive.inside(record.intervals.tolist(), outcomes.tolist())
    for t in naive.powers(300):
        cells = found[f"{t:,}"]
        assert cells[:2] == (f"{naive.means_so_far(covered)[t - 1]:.2%}", f"{naive.lately(covered)[t - 1]:.2%}")
        learner = make()
        learner.learn_many(advice[:t], outcomes[:t])
        made = learner.certificate()
        uncovered, *distance = (made, *made.others)
        away = [each.bound for each in distance if each.bound is not None]
        low = max(0.0, 1 - uncovered.bound / t, *(0.8 - each for each in away))
        assert cells[2:] == (f"{low:.2%}", f"{min(1.0, *(0.8 + each for each in away), 1.0):.2%}")


def test_the_last_intervals_are_shown_with_their_misses():
    advice, outcomes = advice_rounds(400, 3)
    record = play(aw.ConformalIntervals(aw.MLpol(3), coverage=0.7), advice, outcomes)
    picture = record.pictures()["intervals"]
    assert picture.title == "Intervals and outcomes, last 120 rounds"
    missed = 120 - int(sum(naive.inside(record.intervals[-120:].tolist(), outcomes[-120:].tolist())))
    assert picture.caption == f"In the last 120 rounds, {missed} outcomes of 120 are outside."
    marks = picture.plot().ax_.lines
    assert [len(line.get_xdata()) for line in marks] == [120 - missed, missed]
    assert [row[0] for row in picture.table().rows] == [str(t) for t in range(381, 401)]
