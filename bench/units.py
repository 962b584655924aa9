"""Units do not matter: learners on raw and on rescaled columns, beside the same learners on standardised columns.

And LIBOL's published number of mistakes of the perceptron on svmguide3.
"""

import numpy as np

import afterwit as aw
from _datasets import load

SETS = ("magic04", "spambase", "bank_marketing", "elec2", "breast_cancer", "Phishing")
KINDS = ("ScaleFree", "NormalizedAdaGrad", "Committee")
#: How much more error than on standardised columns is allowed.
ALLOWED = 0.005
#: Mistakes over 20 permutations: mean and standard deviation.
LIBOL = (412.4, 14.7)
ORDERS = 20


def in_other_units(X):
    """Every column multiplied by 10^U(-4, 4), then shifted by up to its own new spread in either direction."""
    generator = np.random.default_rng(0)
    scaled = X * 10 ** generator.uniform(-4, 4, X.shape[1])
    return scaled + generator.uniform(-1, 1, X.shape[1]) * scaled.std(axis=0)


def standardized(X):
    """By the mean and the spread of all rows, which nobody knows beforehand."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def error(kind, X, y):
    learner = getattr(aw, kind)()
    learner.learn_many(X, y)
    return learner.mistakes / learner.rounds


def unit_cases(folder):
    for name in SETS:
        data = load(name, folder)
        if data is None:
            print(f"units on {name}: left out, it is not in the folder (make bench DATA=FOLDER)")
            continue
        forms = {"raw": data.X, "rescaled and shifted": in_other_units(data.X)}
        for kind in KINDS:
            wanted = error(kind, standardized(data.X), data.y) + ALLOWED
            for form, X in forms.items():
                found = error(kind, X, data.y)
                verdict = "reached" if found <= wanted else "NOT REACHED"
                print(f"{kind} on {name}, {form}: {found:.2%} error; wanted <= {wanted:.2%}: {verdict}", flush=True)
                yield {"case": f"{kind} on {name}, {form}", "error": found, "wanted": wanted}
        yield powers_of_two(data)


def powers_of_two(data):
    """ScaleFree on columns multiplied by powers of two: every score before every label, to the last bit."""
    factors = 2.0 ** np.random.default_rng(1).integers(-40, 41, data.X.shape[1])
    plain, other = aw.ScaleFree(), aw.ScaleFree()
    differ = 0
    for x, scaled, y in zip(data.X, data.X * factors, data.y.tolist(), strict=True):
        differ += plain.score_one(x) != other.score_one(scaled)
        plain.learn_one(x, y)
        other.learn_one(scaled, y)
    verdict = "reached" if differ == 0 else "NOT REACHED"
    case = f"ScaleFree on {data.name}, columns multiplied by powers of two"
    print(f"{case}: {differ} of {len(data.y):,} scores differ; wanted 0: {verdict}", flush=True)
    return {"case": case, "scores that differ": differ, "wanted": 0}


def libol_case(folder):
    """LIBOL's perceptron has no bias, does not normalise rows, starts at 0 and predicts +1 at 0: so does ours."""
    data = load("svmguide3", folder)
    if data is None:
        print("Perceptron on svmguide3: left out, it is not in the folder (make bench DATA=FOLDER)")
        return
    mistakes = []
    for seed in range(ORDERS):
        at = np.random.default_rng(seed).permutation(len(data.y))
        learner = aw.Perceptron()
        learner.learn_many(data.X[at], data.y[at])
        mistakes.append(learner.mistakes)
    mean, spread = float(np.mean(mistakes)), float(np.std(mistakes, ddof=1))
    verdict = "reached" if abs(mean - LIBOL[0]) <= LIBOL[1] else "NOT REACHED"
    print(
        f"Perceptron on svmguide3: {mean:.1f} ± {spread:.1f} mistakes over {ORDERS} orders; "
        f"wanted {LIBOL[0]} ± {LIBOL[1]}, as LIBOL published: {verdict}",
        flush=True,
    )
    yield {"case": "Perceptron on svmguide3", "mistakes": mean, "spread": spread, "wanted": LIBOL}
