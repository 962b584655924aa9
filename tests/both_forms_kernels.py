"""What both forms of the package must agree on about kernels; run as a script by test_kernel_perceptron."""

import hashlib
import io
import json

import numpy as np
from scipy import sparse

import afterwit as aw
from afterwit.core.storage import write_model
from afterwit.kernels import all_products, gaussian, linear, polynomial, string


def digest(*parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def model(learner):
    file = io.BytesIO()
    write_model(learner, file)
    return file.getvalue()


results = {"compiled": aw.compiled}
for seed in range(12):
    random = np.random.default_rng(seed)
    rows, width = random.integers(2, 60), random.integers(1, 40)
    X = random.standard_normal((rows, width)) * 10.0 ** random.integers(-2, 2, size=width)
    X *= random.random((rows, width)) < random.random()
    y = random.choice([-1, 1], size=rows)
    names = [{f"f{j}": value for j, value in enumerate(row) if value} for row in X.tolist()]
    for kernel in (
        linear(),
        polynomial(5),
        all_products(),
        gaussian(3.0),
        0.3 * gaussian(1.7) * linear() + polynomial(2),
    ):
        for kind, form in (("dense", X), ("sparse", sparse.csr_array(X)), ("names", names)):
            learner = aw.KernelPerceptron(kernel, budget=None if seed % 2 else 7)
            scores = learner.learn_scores(form, y)
            results[f"{kernel} {kind} {seed}"] = digest(
                scores.tobytes(), learner.score_many(form).tobytes(), model(learner)
            )
    texts = ["".join(random.choice(list("abcd"), size=random.integers(0, 20))) for _ in range(30)]
    learner = aw.KernelPerceptron(string(2) + 0.3 * string(3), budget=9)
    scores = learner.learn_scores(texts, random.choice([-1, 1], size=30))
    results[f"strings {seed}"] = digest(scores.tobytes(), model(learner))

random = np.random.default_rng(1)
X, y = random.standard_normal((60, 3)), random.choice([-1, 1], size=60)
for budget in (None, 10):
    learner = aw.KernelPerceptron(gaussian(), budget)
    learner.learn_many(X, y)
    results[f"certificate {budget}"] = learner.certificate(X, y).to_dict()
print(json.dumps(results))
