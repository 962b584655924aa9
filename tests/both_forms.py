"""What both forms of the package must agree on; run as a script by test_package."""

import hashlib
import io
import json

import numpy as np
from scipy import sparse

import afterwit as aw
from afterwit import adversaries
from afterwit.storage import write_model


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part if isinstance(part, bytes) else repr(part).encode())
    return total.hexdigest()


def model(learner):
    file = io.BytesIO()
    write_model(learner, file)
    return file.getvalue()


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
        predicted = learner.learn_many(form, y)
        scores = learner.score_many(form)
        results[f"{kind} {seed}"] = digest(predicted.tobytes(), scores.tobytes(), model(learner))

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
print(json.dumps(results))
