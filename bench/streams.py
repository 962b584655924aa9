"""From a file to a trained learner: whole processes beside Vowpal Wabbit, tables beside pandas and River, memory.

``python bench/streams.py`` runs these cases alone; LARGE=2000 is the size, in MB, of the file whose memory is measured.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import afterwit as aw

ROWS, FEATURES = 300_000, 75
TABLE_ROWS, NUMBERS, WORDS = 500_000, 20, 4
#: River is given fewer rows: it takes minutes for all. What starts once weighs more on fewer, so this favours River.
RIVER_ROWS = 50_000
REPETITIONS = 5
#: What the run with its certificate may take, in MB.
MOST_MEMORY = 400
#: Who races beside one perceptron.
EIGHT = (
    *("perceptron", "averaged-perceptron", "passive-aggressive", "margin-perceptron", "online-svm"),
    *("sgd", "adagrad", "normalized-adagrad"),
)
NAMES = [f"n{j}" for j in range(NUMBERS)]
CATEGORIES = [f"c{j}" for j in range(WORDS)]


def write_lines(path, bar, rows=ROWS, block=10_000):
    """Text with a line for each example: libsvm, or Vowpal Wabbit's with a bar after the label."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=FEATURES)
    with open(path, "w") as file:
        for begin in range(0, rows, block):
            X = np.round(generator.random((min(block, rows - begin), FEATURES)), 9)
            y = np.where((X - 0.5) @ weights > 0, 1, -1).tolist()
            for row, label in zip(X.tolist(), y, strict=True):
                file.write(f"{label} {bar}" + " ".join(f"{j}:{v}" for j, v in enumerate(row, 1)) + "\n")


def write_table(path, rows, words):
    generator = np.random.default_rng(1)
    with open(path, "w") as file:
        file.write(",".join([*NAMES, *(CATEGORIES if words else ()), "y"]) + "\n")
        for begin in range(0, rows, 10_000):
            X = generator.random((min(10_000, rows - begin), NUMBERS))
            codes = generator.integers(0, 1000, (len(X), WORDS)).tolist()
            y = (X.sum(axis=1) > NUMBERS / 2).astype(int).tolist()
            for numbers, texts, label in zip(X.tolist(), codes, y, strict=True):
                cells = [*map(repr, numbers), *(f"word{code}" for code in texts if words), str(label)]
                file.write(",".join(cells) + "\n")


def process(*command):
    """A whole process, from its start to its end."""
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_command(path, learner, *options):
    return (sys.executable, "-m", "afterwit", "run", str(path), "--learner", learner, "--no-certificate", *options)


def text_cases(best_times, folder):
    """Text of some 300 MB to a trained learner; each tool reads its own format."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: no comparison of text")
        return
    libsvm, vw = folder / "big.svm", folder / "big.vw"
    write_lines(libsvm, "")
    write_lines(vw, "| ")
    peer = process(sys.executable, "-m", "vowpalwabbit", "-d", str(vw), "--quiet")
    size = libsvm.stat().st_size / 1e6
    for learner in ("perceptron", "adagrad"):
        contestants = {"afterwit": process(*run_command(libsvm, learner)), "python -m vowpalwabbit": peer}
        contestants["afterwit, VW text"] = process(*run_command(vw, learner))
        yield (
            f"{size:.0f} MB of text to {learner}",
            best_times(contestants, REPETITIONS),
            {"python -m vowpalwabbit": 2.5},
        )
    alone = process(*run_command(libsvm, "perceptron"))
    for title, chosen, wanted in (
        ("race of 8 learners from text", ("--learners", ",".join(EIGHT)), {"one perceptron": 1 / 3}),
        # The committee alone has ten members, and does its work in one thread.
        ("the usual race from text, with the committee", (), {}),
    ):
        race = process(sys.executable, "-m", "afterwit", "race", str(libsvm), "--no-certificate", *chosen)
        yield title, best_times({"afterwit": race, "one perceptron": alone}, 1 if not chosen else REPETITIONS), wanted
    libsvm.unlink()
    vw.unlink()


def learn(path):
    stream = aw.read(path, target="y")
    aw.play(aw.Perceptron(labels=stream.labels), stream)


def table_cases(best_times, folder):
    """Read and learned, beside pandas, which only reads; and beside River with a pipeline that does the same."""
    if importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        for words in (False, True):
            path = folder / "table.csv"
            write_table(path, TABLE_ROWS, words)
            contestants = {
                "afterwit": lambda path=path: learn(path),
                "pandas.read_csv": lambda path=path: pd.read_csv(path),
            }
            title = f"CSV {TABLE_ROWS:,} x {NUMBERS}" + (f" + {WORDS} of text" if words else "")
            yield title, best_times(contestants, REPETITIONS), {} if words else {"pandas.read_csv": 1 / 1.3}
            path.unlink()
    path = folder / "table.csv"
    write_table(path, RIVER_ROWS, words=True)

    def river():
        from river import compose, linear_model, preprocessing, stream

        numbers = compose.Select(*NAMES)
        texts = compose.Select(*CATEGORIES) | preprocessing.OneHotEncoder()
        model = compose.TransformerUnion(numbers, texts) | linear_model.Perceptron()
        converters = {**dict.fromkeys(NAMES, float), "y": int}
        for x, y in stream.iter_csv(str(path), target="y", converters=converters):
            model.predict_one(x)
            model.learn_one(x, bool(y))

    contestants = {"afterwit": lambda: learn(path), "River, iter_csv": river}
    yield f"CSV {RIVER_ROWS:,} x {NUMBERS} + {WORDS} of text", best_times(contestants, 1), {"River, iter_csv": 10}
    path.unlink()


def peak_memory(command, output):
    """What a process wrote, the seconds it took, and the most memory that it had, in MB: of this child alone."""
    begin = time.perf_counter()
    with open(output, "w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begin
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        out.seek(0)
        return out.read(), seconds, used.ru_maxrss / 1024


def memory_case(folder, megabytes):
    """The peak memory of a run with its certificate on a file that is larger than it."""
    path = folder / "large.svm"
    write_lines(path, "", rows=int(megabytes * 1e6 / 1130))
    command = [sys.executable, "-m", "afterwit", "run", str(path), "--learner", "perceptron"]
    said, seconds, peak = peak_memory(command, folder / "said")
    verdict = re.search(r"verdict +(.*)", said)
    size = path.stat().st_size / 1e6
    path.unlink()
    print(
        f"run with certificate on {size:,.0f} MB: {peak:,.0f} MB (wanted: at most {MOST_MEMORY}: "
        f"{'reached' if peak <= MOST_MEMORY and verdict else 'NOT REACHED'}), "
        f"{seconds:.0f} s, {verdict[1] if verdict else 'NO CERTIFICATE'}"
    )


def stream_cases(best_times):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory_case(folder, float(os.environ.get("LARGE", 2000)))
        yield from text_cases(best_times, folder)
        yield from table_cases(best_times, folder)


if __name__ == "__main__":
    from run import best_times, show

    for found in stream_cases(best_times):
        show(*found)
