"""Intervals of 90% on real data: their coverage, the theorem, and their width beside two methods without a promise."""

import csv
import math
import time
from pathlib import Path

import numpy as np

import afterwit as aw
from experts import FORECASTS, read_forecasts

COVERAGE, WINDOW = 0.9, 250
#: Of a standard normal variable, 5% is above.
NORMAL = 1.6448536269514722
#: The coverage that is wanted on the French load, after 398 rounds.
WANTED = {"french_load_experts.csv": 0.015}


def rolling_quantile(errors):
    """Split conformal on a rolling window: the ceil(0.9 (n + 1))-th smallest of the last n errors, or the largest."""
    radii = np.full(len(errors), math.inf)
    for t in range(1, len(errors)):
        last = np.sort(np.abs(errors[max(0, t - WINDOW) : t]))
        radii[t] = last[min(len(last), math.ceil(COVERAGE * (len(last) + 1))) - 1]
    return radii


def gaussian(errors):
    """1.645 standard deviations of the last errors."""
    radii = np.full(len(errors), math.inf)
    for t in range(2, len(errors)):
        radii[t] = NORMAL * errors[max(0, t - WINDOW) : t].std(ddof=1)
    return radii


def extremes(inside):
    """The lowest and the highest coverage in 500 rounds in a row, or in a quarter of the rounds if that is less."""
    length = min(500, len(inside) // 4)
    sums = np.concatenate([[0], np.cumsum(inside)])
    shares = (sums[length:] - sums[:-length]) / length
    return float(shares.min()), float(shares.max())


def electricity(path, target):
    """Half-hourly prices and demands, without the class, which is made of the price."""
    with open(path) as file:
        header, *rows = csv.reader(file)
    columns = [place for place, name in enumerate(header) if name not in (target, "class")]
    X = np.array([[float(row[place]) for place in columns] for row in rows])
    return X, np.array([float(row[header.index(target)]) for row in rows])


def sources(folder):
    """Name, forecaster, examples, outcomes."""
    for name, target, is_expert, *_ in FORECASTS:
        path = Path(folder) / name
        if path.exists():
            advice, outcomes = read_forecasts(path, target, is_expert)
            yield name, name, aw.MLpol(advice.shape[1]), advice, outcomes
        else:
            yield name, name, None, None, None
    for target in ("nswprice", "nswdemand"):
        path = Path(folder) / "elec2.csv"
        found = electricity(path, target) if path.exists() else (None, None)
        yield "elec2.csv", f"elec2.csv, {target}", aw.RegressionCommittee() if path.exists() else None, *found


def interval_figures(folder):
    """Both methods and what they are compared with, around the same forecasts."""
    for name, title, forecaster, X, y in sources(folder):
        if forecaster is None:
            print(f"intervals on {title}: left out, {Path(folder) / name} is not there (make bench DATA=FOLDER)")
            continue
        radii, seconds = {}, {}
        for method in ("adaptive", "tracking"):
            learner = aw.ConformalIntervals(forecaster, COVERAGE, method)
            begin = time.perf_counter()
            forecasts, intervals = learner.learn_intervals(X, y)
            seconds[method] = time.perf_counter() - begin
            radii[method] = (intervals[:, 1] - intervals[:, 0]) / 2
            certificate = learner.certificate(X, y)
            shown = f"{certificate.observed:,} of {len(y):,} outside, at most {math.floor(certificate.bound):,}"
            print(f"intervals on {title}, {method}: {shown}: {certificate.verdict}", flush=True)
            if method == "adaptive":
                narrowest = certificate.hindsight.value
        errors = y - forecasts
        radii |= {"rolling quantile": rolling_quantile(errors), "Gaussian": gaussian(errors)}
        figures = {}
        for method, each in radii.items():
            inside = np.abs(errors) <= each
            low, high = extremes(inside)
            figures[method] = {
                "coverage": float(inside.mean()),
                "width": 2 * float(each[np.isfinite(each)].mean()),
                "infinite": int(np.isinf(each).sum()),
                "lowest": low,
                "highest": high,
            }
            print(
                f"  {method:<20} coverage {inside.mean():7.2%} ({low:.0%} to {high:.0%})  "
                f"mean width {figures[method]['width']:<9.4g} infinite {figures[method]['infinite']}"
            )
        print(f"  {'constant, afterwards':<20} coverage as adaptive, width {narrowest:.4g}")
        if name in WANTED:
            off = abs(figures["adaptive"]["coverage"] - COVERAGE)
            verdict = "reached" if off <= WANTED[name] else "NOT REACHED"
            print(f"  coverage within {WANTED[name]:.1%} of {COVERAGE:.0%}: {verdict} ({off:.2%})", flush=True)
        alone = time.perf_counter()
        forecaster.copy().learn_many(X, y)
        alone = time.perf_counter() - alone
        per_round = (seconds["adaptive"] - alone) / len(y)
        print(
            f"  adaptive intervals cost {per_round * 1e6:.1f} microseconds a round on top of the forecaster", flush=True
        )
        yield {"case": f"intervals on {title}", "figures": figures, "narrowest": narrowest, "seconds": seconds}
