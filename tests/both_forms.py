"""What both forms of the package must agree on; run as a script by test_package."""

import hashlib
import inspect
import io
import json

import numpy as np
from scipy import sparse

import afterwit as aw
from afterwit import adversaries
from afterwit.core.registry import learner_names, many_label_names
from afterwit.core.storage import write_model
from afterwit.streams.csv_text import CsvReader


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else repr(part).encode())
    return total.hexdigest()


def model(learner):
    file = io.BytesIO()
    write_model(learner, file)
    return file.getvalue()


def learned(learner, form, y):
    """The bits of everything it has learned and says, over two passes."""
    parts = []
    for _ in range(2):
        parts += [learner.learn_scores(form, y).tobytes(), learner.score_many(form).tobytes()]
    parts += [learner.predict_many(form).tobytes(), model(learner)]
    # All are served before the first label comes.
    _, tickets = learner.serve_many(form)
    learner.learn_late_many(tickets, y)
    return [*parts, json.dumps(tickets).encode(), model(learner)]


results = {"compiled": aw.compiled}
for seed in range(25):
    random = np.random.default_rng(seed)
    rows, width = random.integers(1, 60), random.integers(1, 40)
    X = random.standard_normal((rows, width)) * 10.0 ** random.integers(-4, 5, size=width)
    X *= random.random((rows, width)) < random.random()
    y = random.choice([-1, 1], size=rows)
    names = [{f"f{j}": value for j, value in enumerate(row) if value} for row in X.tolist()]
    for kind, form in (("dense", X), ("sparse", sparse.csr_array(X)), ("names", names)):
        learner = aw.Perceptron(rate=float(random.uniform(0.01, 3)))
        results[f"{kind} {seed}"] = digest(*learned(learner, form, y))

# Every learner, some with options that lead through other lines.
OPTIONS = {
    "AdaGrad": ({}, {"loss": "hinge", "box": 0.2, "delta": 0}),
    "ScaleFree": ({}, {"loss": "hinge", "epsilon": 0.3}),
    "BalancedWinnow": ({}, {"rate": 3.0}),
    "MarginPerceptron": ({}, {"margin": 2.0}),
    "PassiveAggressive": ({}, {"C": 0.1, "intercept": True}),
    "NormalizedAdaGrad": ({}, {"loss": "hinge", "rate": 0.1}, {"loss": "squared", "rate": 0.05}, {"invariant": True}),
    "OnlineSVM": ({}, {"C": 1.0, "rate": 0.5}),
    "SGD": ({}, {"loss": "hinge", "ball": 1.0, "schedule": "1/sqrt(t)"}, {"loss": "squared", "rate": 0.001}),
    "SelectivePerceptron": ({}, {"b": 300.0, "seed": 4}),
    "SoftThresholdNetwork": ({}, {"gates": (3, 2), "rate": 0.5, "seed": 4}),
    "Winnow": ({}, {"rate": 3.0}),
}
for name in learner_names().values():
    for number, options in enumerate(OPTIONS.get(name, ({},))):
        for seed in range(4):
            random = np.random.default_rng(seed)
            X = random.standard_normal((40, 25)) * 10.0 ** random.integers(-2, 3, size=25)
            X *= random.random(X.shape) < 0.5
            y = random.choice([-1, 1], size=40)
            names = [{f"f{j}": value for j, value in enumerate(row) if value} for row in X.tolist()]
            takes_intercept = "intercept" in inspect.signature(getattr(aw, name)).parameters
            more = {"intercept": seed % 2 == 1} if takes_intercept else {}
            for kind, form in (("dense", X), ("sparse", sparse.csr_array(X)), ("names", names)):
                learner = getattr(aw, name)(**{**more, **options})
                results[f"{name} {number} {kind} {seed}"] = digest(*learned(learner, form, y))

for name in many_label_names().values():
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.standard_normal((60, 25)) * 10.0 ** random.integers(-2, 3, size=25)
        X *= random.random(X.shape) < 0.5
        y = random.integers(0, 9, size=60).tolist()
        names = [{f"f{j}": value for j, value in enumerate(row) if value} for row in X.tolist()]
        for kind, form in (("dense", X), ("sparse", sparse.csr_array(X)), ("names", names)):
            takes_intercept = "intercept" in inspect.signature(getattr(aw, name)).parameters
            learner = getattr(aw, name)(**({"intercept": seed % 2 == 1} if takes_intercept else {}))
            parts = [
                part
                for _ in range(2)
                for part in (learner.learn_many(form, y).tolist(), learner.score_many(form).tobytes())
            ]
            results[f"{name} {kind} {seed}"] = digest(*parts, model(learner))

roads = [(i, i + 1 + skip) for i in range(12) for skip in (0, 0, 1)]
for options in ({"horizon": 30}, {}):
    costs = np.random.default_rng(5).random((30, len(roads)))
    paths, leader = (
        kind(edges=roads, sink=12, **options) for kind in (aw.OnlineShortestPath, aw.FollowThePerturbedLeader)
    )
    found = (paths.learn_many(costs).tobytes(), paths.flow.tobytes(), leader.observe_many(costs).tobytes())
    results[f"paths {options}"] = [digest(*found, model(paths), model(leader)), paths.predict_one(), leader.choose()]

stream = adversaries.label_noise(adversaries.separable(200, 6, margin=0.1, seed=1), 0.1, seed=2)
learner = aw.Perceptron()
results["record"] = aw.play(learner, stream).to_dict()
results["certificate"] = learner.certificate(stream.X, stream.y).to_dict()

numbers = np.random.default_rng(9)
text = "".join(
    f"{numbers.integers(2)} "
    + " ".join(f"{j}:{float(numbers.standard_normal() * 10.0 ** numbers.integers(-30, 30))!r}" for j in range(9))
    + "\n"
    for _ in range(200)
)
parsed = [(y, x.columns.tobytes(), x.values.tobytes()) for x, y in aw.streams.LibsvmStream(io.BytesIO(text.encode()))]
results["libsvm"] = digest(*parsed)

lines = "".join(
    ",".join([*line.replace(":", " ").split(), f'"w ""{i % 7}"" é"', f"w{i % 5}\n"])
    for i, line in enumerate(text.splitlines())
)
names = [f"x{j}" for j in range(19)]
reader = CsvReader(io.BytesIO((lines + lines[:500]).encode()), names=[*names, "v", "w"], on_error="skip", block=999)
reader.read_as({**dict.fromkeys(names[::2], "number"), "v": "text", "w": "text"})
batches = []
while (batch := reader.take(64)) is not None:
    batches += [batch.lines.tobytes(), *(column for column in batch.columns.values())]
results["csv"] = digest(*batches, reader.skipped)
print(json.dumps(results))
