"""One pass over real data with default settings: the share of examples predicted wrongly before they were learned."""

import time
from pathlib import Path

import numpy as np

import afterwit as aw

#: File, labels, the most that is wanted, and what others have reported for one pass.
FIGURES = [
    ("a9a", (-1, 1), 0.157, "Vowpal Wabbit 15.5%, River 15.9%"),
    ("spamassassin.svm.gz", (0, 1), 0.018, "Vowpal Wabbit 1.73%"),
]


#: How often the digits are learned, each time in another order.
ORDERS = 20


#: The error of the many-class committee on the digits that is wanted at most.
COMMITTEE_WANTED = 0.06


def digits_case():
    """Ten digits of 64 raw pixels, one pass: many labels at once beside one against the rest."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    kinds = {
        "MulticlassPerceptron": aw.MulticlassPerceptron,
        "AveragedMulticlassPerceptron": aw.AveragedMulticlassPerceptron,
        "OneVsRest(Perceptron())": lambda: aw.OneVsRest(aw.Perceptron()),
        "OneVsRest(AveragedPerceptron())": lambda: aw.OneVsRest(aw.AveragedPerceptron()),
        "OneVsRest(Standardize())": lambda: aw.OneVsRest(aw.Standardize()),
        "SoftmaxAdaGrad": aw.SoftmaxAdaGrad,
        "MulticlassStandardize": aw.MulticlassStandardize,
        "NearestNeighbours(1)": lambda: aw.NearestNeighbours(1),
        "MulticlassCommittee": aw.MulticlassCommittee,
    }
    means, seconds = {}, {}
    for name, make in kinds.items():
        orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(ORDERS)]
        begin = time.perf_counter()
        means[name] = float(np.mean([np.count_nonzero(make().learn_many(X[at], y[at]) != y[at]) for at in orders]))
        seconds[name] = (time.perf_counter() - begin) / ORDERS / len(y)
    ours, wanted = means["MulticlassPerceptron"], means["OneVsRest(Perceptron())"]
    verdict = "reached" if ours <= wanted else "NOT REACHED"
    print(f"MulticlassPerceptron on digits: {ours:.1f} mistakes; wanted <= {wanted:.1f}: {verdict}", flush=True)
    yield {"case": "MulticlassPerceptron on digits", "mistakes": means, "wanted": wanted}
    error = means["MulticlassCommittee"] / len(y)
    verdict = "reached" if error <= COMMITTEE_WANTED else "NOT REACHED"
    print(f"MulticlassCommittee on digits: {error:.2%} error; wanted <= {COMMITTEE_WANTED:.0%}: {verdict}", flush=True)
    yield {"case": "MulticlassCommittee on digits", "error": error, "wanted": COMMITTEE_WANTED, "seconds": seconds}
    for name, mean in means.items():
        print(
            f"  {name}: {mean:.1f} mistakes, {mean / len(y):.2%}, {1e6 * seconds[name]:.1f} us per example", flush=True
        )


def accuracy_cases(folder):
    for name, labels, wanted, others in FIGURES:
        path = Path(folder) / name
        if not path.exists():
            print(f"AdaGrad on {name}: left out, {path} is not there (make bench DATA=FOLDER)")
            continue
        record = aw.play(aw.AdaGrad(loss="logistic", labels=labels), aw.streams.LibsvmStream(path))
        verdict = "reached" if record.error <= wanted else "NOT REACHED"
        print(f"AdaGrad on {name}: {record.error:.2%} error; wanted <= {wanted:.1%}: {verdict} ({others})", flush=True)
        yield {"case": f"AdaGrad on {name}", "error": record.error, "wanted": wanted}
