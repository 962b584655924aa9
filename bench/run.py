"""Speed beside the peers, as ratios of times measured in this run. ``make bench`` runs it.

Every case is repeated, the contestants taking turns so that a busy moment hits them alike; the best time of each
counts. The bare lower limit is a compiled loop that only gathers weights and sums. The table goes to standard
output, everything measured and a description of the machine to bench/results/latest.json.
"""

import importlib.metadata
import importlib.util
import io
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import afterwit as aw
from accuracy import accuracy_cases, digits_case
from batch import batch_cases
from certificates import certificate_cases, expert_certificate_cases
from committee import committee_case, committee_figures
from concepts import concept_case
from experts import expert_cases, forecast_cases
from games import boosting_case, game_cases
from intervals import interval_figures
from kernels import kernel_case
from learners import dense_cases, dimension_cases, learner_cases, one_row_cases, ridge_case, sparse_rows, voted_case
from paths import path_cases
from streams import stream_cases
from units import libol_case, unit_cases

HERE = Path(__file__).resolve().parent
REPETITIONS = 9


def need_peers():
    missing = [name for name in ("sklearn", "river") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(
            f"bench: cannot compare, these peers are not installed: {', '.join(missing)} (make bench installs them)"
        )
    if not aw.compiled:
        sys.exit("bench: afterwit is installed without its compiled modules; a C compiler is needed for a comparison")


def build_bare():
    """Compile bench/bare.py out of the way and import it."""
    folder = Path(tempfile.mkdtemp())
    (folder / "afterwit_bare.py").write_text((HERE / "bare.py").read_text())
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "-3", "-q", "-i", "afterwit_bare.py"]
    subprocess.run(command, cwd=folder, env={**os.environ, "CFLAGS": "-O3"}, check=True, capture_output=True)
    (folder / "afterwit_bare.py").unlink()
    sys.path.insert(0, str(folder))
    return importlib.import_module("afterwit_bare")


def best_times(contestants, repetitions=REPETITIONS):
    times = {name: [] for name in contestants}
    for _ in range(repetitions):
        for name, action in contestants.items():
            begin = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - begin)
    return {name: min(measured) for name, measured in times.items()}


def sgd(**options):
    """scikit-learn's perceptron, as its documentation spells it out."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="perceptron", eta0=1.0, learning_rate="constant", penalty=None, **options)


def sparse_case(bare):
    """200,000 rows of 75 non-zeros over 47,236 features, frequent ones first: the shape of the RCV1 corpus."""
    X, generator = sparse_rows(200_000, 75, 47_236)
    y = np.where(X @ generator.standard_normal(X.shape[1]) >= 0, 1, -1)
    weights = generator.standard_normal(X.shape[1])
    return best_times(
        {
            "afterwit": lambda: aw.Perceptron().learn_many(X, y),
            "scikit-learn": lambda: sgd().partial_fit(X, y, classes=[-1, 1]),
            "scikit-learn, in order": lambda: sgd(shuffle=False).partial_fit(X, y, classes=[-1, 1]),
            "bare": lambda: bare.bare_sparse(X.indptr, X.indices, X.data, weights),
        }
    )


def dense_case(bare):
    """100,000 dense rows of 54 numbers: the shape of a sixth of the covertype data."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((100_000, 54))
    weights = generator.standard_normal(54)
    y = np.where(X @ weights + 3 * generator.standard_normal(len(X)) >= 0, 1, -1)
    return best_times(
        {
            "afterwit": lambda: aw.Perceptron().learn_many(X, y),
            "scikit-learn": lambda: sgd().partial_fit(X, y, classes=[-1, 1]),
            "scikit-learn, in order": lambda: sgd(shuffle=False).partial_fit(X, y, classes=[-1, 1]),
            "bare": lambda: bare.bare_dense(X, weights),
        }
    )


def dict_case(bare):
    """20,000 dicts of 20 features out of 1,000: predict, then learn."""
    from river import linear_model

    generator = random.Random(2)
    names = [f"feature {j}" for j in range(1000)]
    truth = {name: generator.gauss(0, 1) for name in names}
    rows = [{name: generator.gauss(0, 1) for name in generator.sample(names, 20)} for _ in range(20_000)]
    labels = [sum(truth[name] * value for name, value in x.items()) >= 0 for x in rows]

    def play(learner):
        for x, y in zip(rows, labels, strict=True):
            learner.predict_one(x)
            learner.learn_one(x, y)

    def gather():
        for x in rows:
            bare.bare_dict(x, truth)
            bare.bare_dict(x, truth)

    return best_times(
        {
            "afterwit": lambda: play(aw.Perceptron(labels=(False, True))),
            "River": lambda: play(linear_model.Perceptron()),
            "bare": gather,
        }
    )


def reading_case(_bare):
    """A libsvm file of 50,000 lines, from memory."""
    from sklearn.datasets import load_svmlight_file

    generator = np.random.default_rng(3)
    lines = []
    for _ in range(50_000):
        ids = np.unique(generator.integers(1, 50_000, size=40))
        lines.append(
            f"{generator.choice([-1, 1])} "
            + " ".join(f"{j}:{v:.5g}" for j, v in zip(ids, generator.random(len(ids)), strict=True))
        )
    content = "\n".join(lines).encode()

    def read():
        with aw.streams.LibsvmStream(io.BytesIO(content)).reader() as reader:
            while reader.take(65_536) is not None:
                pass

    return best_times({"afterwit": read, "scikit-learn": lambda: load_svmlight_file(io.BytesIO(content))}, 3)


CASES = [
    ("learn 200,000 x 75 sparse", sparse_case, {"scikit-learn": 4.0}),
    ("learn 100,000 x 54 dense", dense_case, {"scikit-learn": 3.0}),
    ("predict + learn 20,000 dicts of 20", dict_case, {"River": 4.0}),
    ("read 50,000 lines of libsvm", reading_case, {}),
]


def machine():
    model = platform.processor() or "unknown"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    packages = ("afterwit", "numpy", "scipy", "scikit-learn", "river", "cython")
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }


def show(title, times, wanted):
    """The rows of one case."""
    for name, seconds in times.items():
        ratio = seconds / times["afterwit"]
        figure = "" if name == "afterwit" else f"{ratio:.2f} x"
        goal = ""
        if name in wanted:
            goal = f">= {wanted[name]:.3g} x: {'reached' if ratio >= wanted[name] else 'NOT REACHED'}"
        print(f"{title:<44} {name:<24} {seconds * 1e3:>9.2f} {figure:>13}   {goal}".rstrip(), flush=True)


def all_cases(bare):
    for title, case, wanted in CASES:
        yield title, case(bare), wanted
    for cases in (
        learner_cases,
        dense_cases,
        voted_case,
        dimension_cases,
        one_row_cases,
        ridge_case,
        kernel_case,
        committee_case,
        expert_cases,
        path_cases,
        concept_case,
        game_cases,
        boosting_case,
        batch_cases,
        certificate_cases,
        expert_certificate_cases,
        stream_cases,
    ):
        yield from cases(best_times)


def main():
    need_peers()
    bare = build_bare()
    data = os.environ.get("DATA", "")
    results = [*accuracy_cases(data), *digits_case(), *forecast_cases(data), *committee_figures(data)]
    results += [*interval_figures(data), *libol_case(data), *unit_cases(data)]
    print(f"\n{'case':<44} {'contestant':<24} {'ms':>9} {'afterwit is':>13}   wanted")
    for title, times, wanted in all_cases(bare):
        results.append({"case": title, "seconds": times, "wanted": wanted})
        show(title, times, wanted)
    print("\nafterwit is N x: how many times faster afterwit was; below 1 for the bare loop, which learns nothing.")
    target = HERE / "results" / "latest.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({"machine": machine(), "results": results}, indent=2) + "\n")
    print(f"written: {os.path.relpath(target)}")


if __name__ == "__main__":
    main()
