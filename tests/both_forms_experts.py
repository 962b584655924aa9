"""What both forms of the package must agree on about expert algorithms; run as a script by test_expert_storage."""

import hashlib
import io
import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import afterwit as aw
from afterwit.core.storage import write_model
from expert_cases import CASES, Case
from vector_cases import CASES as VECTOR_CASES
from vector_cases import VectorCase, rounds_for

warnings.simplefilter("error")


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def model(learner):
    file = io.BytesIO()
    write_model(learner, file)
    return file.getvalue()


def said(call, *arguments):
    """What a refusal says, or the numbers given back."""
    try:
        return np.asarray(call(*arguments)).tobytes()
    except aw.AfterwitError as error:
        return str(error).encode()


results = {"compiled": aw.compiled}
for case in CASES:
    for seed in range(3):
        random = np.random.default_rng(seed)
        n, asleep = (
            int(random.integers(1, 6)) + (case.options.get("horizon") is not None),
            0.3 * case.sleeping * (seed > 0),
        )
        advice, outcomes = case.rounds(random, 60, n, asleep)
        learner = case.make(n)
        parts = [learner.learn_many(advice, outcomes).tobytes(), learner.predict_many(advice).tobytes()]
        parts += [learner.weights.tobytes(), model(learner), json.dumps(learner.certificate().to_dict()).encode()]
        parts += [repr(learner).encode(), said(learner.learn_one, np.full(n, np.inf), 1.0)]
        forecasts, tickets = learner.serve_many(advice[:20])
        learner.learn_late_many(tickets, outcomes[:20])
        parts += [forecasts.tobytes(), json.dumps(tickets).encode(), model(learner)]
        if case.takes_losses:
            parts += [learner.observe_many(case.losses(random, 60, n, asleep)).tobytes(), model(learner)]
            parts.append(said(learner.observe, np.full(n, 1e151)))
        results[f"{case} {seed}"] = digest(*parts)

# Forecasts that are probability vectors.
for case in [
    *VECTOR_CASES,
    VectorCase("AggregatingAlgorithm", {"loss": "brier"}),
    VectorCase("AggregatingAlgorithm", {"loss": "log"}),
]:
    for seed in range(3):
        random = np.random.default_rng(seed)
        advice, outcomes = rounds_for(random, case, 60, 4, 2 + seed, 0.3 * (seed > 0))
        learner = case.make(4, 2 + seed)
        parts = [learner.learn_many(advice, outcomes).tobytes(), learner.predict_many(advice).tobytes()]
        parts += [learner.weights.tobytes(), model(learner), json.dumps(learner.certificate().to_dict()).encode()]
        parts += [repr(learner).encode(), said(learner.learn_one, np.full((4, 2 + seed), 0.7), 1)]
        results[f"{case} {seed}"] = digest(*parts)
random = np.random.default_rng(1)
learner = aw.AggregatingAlgorithm(4, outcomes=(0.0, 10.0), loss="square")
forecasts = learner.learn_many(10 * random.random((60, 4)), 10 * random.random(60))
results["AggregatingAlgorithm square"] = digest(forecasts.tobytes(), learner.weights.tobytes(), model(learner))

# Numbers at the ends of what there is.
for name in ("AdaHedge", "BOA", "MLpol", "PolynomialWeights"):
    for unit in (1e12, 1e-12, 1e-160, 1e-310, 1e140):
        random = np.random.default_rng(5)
        learner = Case(name, {"gradient": False}).make(3)
        units = np.where(random.random((80, 1)) < 0.5, unit, 1.0)
        own = learner.observe_many(random.random((80, 3)) * units)
        results[f"{name} {unit}"] = digest(own.tobytes(), learner.weights.tobytes(), model(learner))
print(json.dumps(results))
