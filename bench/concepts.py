"""Finite classes: what the dimensions and a round of halving take, against what they may take, and beside naive loops.

The first are printed as processor times: there is no peer that does the same.
"""

import sys
import time
from pathlib import Path

import numpy as np

import afterwit as aw
from afterwit import concepts

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import naive_concepts


def timed(action):
    """The processor's seconds, which a busy machine does not add to."""
    begin = time.process_time()
    value = action()
    return time.process_time() - begin, value


def figure(title, seconds, most, note=""):
    """One line: how long it took, and whether that is within what it may take."""
    verdict = "" if most is None else f"< {most * 1e3:,.0f} ms: {'reached' if seconds < most else 'NOT REACHED'}"
    print(f"{title:<64} {seconds * 1e3:>10.3f} ms   {verdict}{note}", flush=True)


def halving_of_a_million():
    """2^20 disjunctions over 1,000 points: building, one vote, one round of learning."""
    random = np.random.default_rng(0)
    points = np.unique(random.integers(0, 2, (1100, 20)), axis=0)[:1000]
    seconds, made = timed(lambda: concepts.monotone_disjunctions(20, points=points))
    figure(f"build {len(made):,} disjunctions over {len(points):,} points", seconds, None)
    X = points[random.integers(0, len(points), 2000)]
    y = np.where(X[:, 3] | X[:, 11], 1, -1)
    for drop in ("mistakes", "examples"):
        learner = aw.Halving(made, drop)
        seconds, _ = timed(lambda learner=learner: [learner.learn_one(x, label) for x, label in zip(X, y, strict=True)])
        note = f"   ({learner.mistakes} mistakes)"
        figure(f"a round of halving, {len(made):,} hypotheses, after {drop}", seconds / len(y), 0.020, note)
    fresh = aw.Halving(made)
    seconds = min(timed(lambda x=x: fresh.predict_one(x))[0] for x in points[:50])
    figure("a vote of all of them", seconds, 0.020)
    seconds, _ = timed(lambda: learner.certificate(X, y))
    figure("its certificate, 2,000 rounds counted anew", seconds, None)


def concept_case(best_times):
    random = np.random.default_rng(1)
    for title, action, most in (
        ("Littlestone dimension, thresholds over 255 points", lambda: concepts.thresholds(255), 5.0),
        ("Littlestone dimension, 64 random hypotheses over 16 points", lambda: random.integers(0, 2, (64, 16)), 5.0),
    ):
        made = action()
        seconds, dimension = timed(lambda made=made: concepts.littlestone_dimension(made))
        figure(title, seconds, most, f"   (it is {dimension})")
    matrix = random.integers(0, 2, (1000, 24))
    seconds, dimension = min(timed(lambda: concepts.vc_dimension(matrix)) for _ in range(3))
    figure("VC dimension, 1,000 random hypotheses over 24 points", seconds, 2.0, f"   (it is {dimension})")
    halving_of_a_million()

    small = random.integers(0, 2, (30, 7))
    rows = small.tolist()
    times = best_times(
        {
            "afterwit": lambda: concepts.vc_dimension(small),
            "naive loop": lambda: naive_concepts.vc_dimension(rows),
        },
        3,
    )
    yield "VC dimension, 30 hypotheses over 7 points", times, {}
    times = best_times(
        {
            "afterwit": lambda: concepts.littlestone_dimension(small),
            "naive loop": lambda: naive_concepts.littlestone_dimension(rows),
        },
        3,
    )
    yield "Littlestone dimension, the same", times, {"naive loop": 20.0}
    X = (np.random.default_rng(2).random((20_000, 200)) < 0.02).astype(float)
    labels = X[:, :3].any(axis=1).astype(int)
    listed, answers = X.tolist(), labels.tolist()
    times = best_times({"afterwit": lambda: aw.WinnowDisjunction(200, labels=(0, 1)).learn_many(X, labels)}, 3)
    times.update(best_times({"naive loop": lambda: naive_concepts.winnow_disjunction(200, listed, answers)}, 1))
    yield "winnow for disjunctions, 20,000 x 200", times, {}
