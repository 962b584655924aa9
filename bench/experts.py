"""Expert algorithms: the time of whole runs, and how well the default one forecasts real data."""

import csv
import gzip
import time
from pathlib import Path

import numpy as np

import afterwit as aw

ROUNDS, EXPERTS = 8_000, 20
OPERATOR = "Forecast_RTE_dayahead"
FORECASTS = [
    # File, target, which columns are the experts, the largest RMSE wanted, and what there is to compare with.
    (
        "french_load_experts.csv",
        "Load",
        lambda name: name not in ("Date", "Load", OPERATOR),
        1057.0,
        "best expert 1,476, best fixed mixture 1,260, grid operator 1,212",
    ),
    (
        "weather_experts.csv.gz",
        "observation",
        lambda name: name in ("CMCG", "ETA", "GASP", "GFS", "JMA", "NGPS", "TCWB", "UKMO"),
        3.177,
        "best expert 3.24, plain mean 3.23",
    ),
]
#: The same with the forecast of the grid operator among the experts.
WITH_OPERATOR = (
    "french_load_experts.csv",
    "Load",
    lambda name: name not in ("Date", "Load"),
    1025.0,
    "grid operator 1,212, best fixed mixture 959",
)


def read_forecasts(path, target, is_expert):
    """The advice and the outcomes in a table."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        header, *rows = csv.reader(file)
    places = [place for place, column in enumerate(header) if is_expert(column)]
    advice = np.array([[float(row[place]) for place in places] for row in rows])
    return advice, np.array([float(row[header.index(target)]) for row in rows])


def forecast_cases(folder):
    """One pass of the default algorithm over real forecasts."""
    for name, target, is_expert, wanted, others in (*FORECASTS, WITH_OPERATOR):
        path = Path(folder) / name
        if not path.exists():
            print(f"MLpol on {name}: left out, {path} is not there (make bench DATA=FOLDER)")
            continue
        advice, outcomes = read_forecasts(path, target, is_expert)
        case = f"MLpol on {name}, {advice.shape[1]} experts"
        forecasts = aw.MLpol(advice.shape[1]).learn_many(advice, outcomes)
        error = float(np.sqrt(np.mean((forecasts - outcomes) ** 2)))
        # The figures wanted are rounded to four digits.
        verdict = "reached" if float(f"{error:.4g}") <= wanted else "NOT REACHED"
        print(f"{case}: RMSE {error:,.4g}; wanted <= {wanted:,.4g}: {verdict} ({others})", flush=True)
        yield {"case": case, "rmse": error, "wanted": wanted}


def algorithms(n):
    """Every algorithm that sees all losses, for n experts and as many rounds as the case has."""
    return {
        "WeightedMajority": lambda: aw.WeightedMajority(n),
        "RandomizedWeightedMajority": lambda: aw.RandomizedWeightedMajority(n, horizon=ROUNDS),
        "ExponentialWeights": lambda: aw.ExponentialWeights(n),
        "SecondOrderWeights": lambda: aw.SecondOrderWeights(n, horizon=ROUNDS),
        "PolynomialWeights": lambda: aw.PolynomialWeights(n),
        "SleepingExperts": lambda: aw.SleepingExperts(n),
        "FixedShare": lambda: aw.FixedShare(n, horizon=ROUNDS, shifts=5),
        "StronglyAdaptive": lambda: aw.StronglyAdaptive(n),
        "AdaHedge": lambda: aw.AdaHedge(n),
        "BOA": lambda: aw.BOA(n),
        "MLpol": lambda: aw.MLpol(n),
        "SwapRegret": lambda: aw.SwapRegret(aw.ExponentialWeights(n, horizon=ROUNDS)),
    }


def expert_cases(best_times):
    """Milliseconds for 8,000 rounds of 20 experts; the two large runs beside numpy."""
    generator = np.random.default_rng(4)
    advice, outcomes = generator.random((ROUNDS, EXPERTS)), generator.random(ROUNDS)
    labels, truth = np.round(advice), np.round(outcomes)
    votes = ("WeightedMajority", "RandomizedWeightedMajority", "SecondOrderWeights", "SleepingExperts", "SwapRegret")
    for name, made in algorithms(EXPERTS).items():
        rounds = (labels, truth) if name in votes else (advice, outcomes)
        seconds = best_times({name: lambda made=made, rounds=rounds: made().learn_many(*rounds)}, 5)[name]
        verdict = "reached" if seconds <= 0.020 else "NOT REACHED"
        print(f"{name}, {ROUNDS:,} x {EXPERTS}: {seconds * 1e3:.1f} ms; wanted <= 20 ms: {verdict}", flush=True)
    advice, outcomes = generator.random((1_000_000, 10)), generator.random(1_000_000)
    begin = time.perf_counter()
    aw.ExponentialWeights(10).learn_many(advice, outcomes)
    seconds = time.perf_counter() - begin
    verdict = "reached" if seconds <= 1 else "NOT REACHED"
    print(f"ExponentialWeights, 1,000,000 x 10: {seconds:.2f} s; wanted <= 1 s: {verdict}", flush=True)

    losses = generator.random((100, 1_000_000))
    scratch = np.empty(1_000_000)

    def numpy_alone():
        for row in losses:
            np.exp(row, out=scratch)
            np.multiply(scratch, row, out=scratch)
            scratch.sum()

    times = best_times(
        {
            "afterwit": lambda: aw.ExponentialWeights(1_000_000).observe_many(losses),
            "numpy, exp + 2 passes": numpy_alone,
        },
        3,
    )
    yield "ExponentialWeights, 100 x 1,000,000", times, {"numpy, exp + 2 passes": 1 / 3}
    yield from vector_cases(best_times)


def vector_cases(best_times):
    """The aggregating algorithm for probability vectors, beside a loop of numpy over the rounds."""
    generator = np.random.default_rng(5)
    advice = generator.dirichlet(np.ones(3), (100_000, 8))
    outcomes = generator.integers(0, 3, 100_000)

    def numpy_loop():
        regrets = np.zeros(8)
        happened = np.eye(3)
        for row, outcome in zip(advice, outcomes, strict=True):
            weights = np.exp(regrets - regrets.max())
            lost = ((row[:, np.newaxis, :] - happened) ** 2).sum(axis=2)
            generalised = -np.log(weights @ np.exp(-lost) / weights.sum())
            ascending = np.sort(generalised)
            threshold = ((2 + np.cumsum(ascending)) / [1, 2, 3]).min()
            forecast = np.maximum(threshold - generalised, 0) / 2
            regrets += ((forecast - happened[outcome]) ** 2).sum() - lost[:, outcome]

    times = best_times(
        {
            "afterwit": lambda: aw.AggregatingAlgorithm(8, outcomes=3).learn_many(advice, outcomes),
            "numpy, a loop over rounds": numpy_loop,
        },
        2,
    )
    verdict = "reached" if times["afterwit"] <= 0.2 else "NOT REACHED"
    print(f"AggregatingAlgorithm, 100,000 x 8 x 3: {times['afterwit']:.3f} s; wanted <= 0.2 s: {verdict}", flush=True)
    yield "AggregatingAlgorithm, 100,000 x 8 x 3", times, {"numpy, a loop over rounds": 1.0}


def tennis_case(folder):
    """The largest regret of the aggregating algorithm on real odds, beside the figure in the paper."""
    path = Path(folder) / "tennis_odds.csv"
    if not path.exists():
        print(f"AggregatingAlgorithm on {path.name}: left out, {path} is not there (make bench DATA=FOLDER)")
        return
    with path.open() as file:
        rows = list(csv.DictReader(file))
    kinds, books = ("first", "second"), ("book1", "book2", "book3", "book4")
    advice = np.array([[[float(row[f"{book}_{kind}"]) for kind in kinds] for book in books] for row in rows])
    learner = aw.AggregatingAlgorithm(books, outcomes=kinds)
    learner.learn_many(advice, [row["winner"] for row in rows])
    found = round(learner.largest_regret, 4)
    verdict = "reached" if found == 1.2021 else "NOT REACHED"
    print(
        f"AggregatingAlgorithm on {path.name}: largest regret {found}, after {learner.largest_regret_after:,} rounds; "
        f"published 1.2021: {verdict} (bound ln 4 = 1.386)",
        flush=True,
    )
    yield {"case": f"AggregatingAlgorithm on {path.name}", "largest_regret": found, "wanted": 1.2021}
