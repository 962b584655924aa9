"""Two workers beside one process, and beside Dask-ML; what sharding costs in mistakes; bytes moved; the exact kinds.

``make bench-cluster`` runs it: MB=1000 is the size of the text, whose rows are repeated. Figures are ratios of times of
the same run, of the best of repetitions in which the contestants take turns. Every worker is bound to a core of its
own, as on a cluster of machines with one core. One process is measured twice: bound to one core, which is what a
cluster multiplies, and with both cores, of which ``afterwit run`` reads ahead on the other.
"""

import importlib.util
import json
import os
import pickle
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse

import afterwit as aw
from afterwit.cluster import Here
from afterwit.cluster.mixing import Played
from afterwit.cluster.weights import Part, added
from run import HERE, best_times, machine, sgd
from streams import EIGHT, NAMES, process, run_command, write_lines, write_table

REPETITIONS = 5
SHARDS = (2, 4, 16)
EPOCHS = 5
#: The features of the vectors whose sum is timed.
LENGTH = 1_000_000


def need_peers():
    missing = [name for name in ("dask_ml", "distributed", "pandas") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"bench: these are not installed: {', '.join(missing)} (make bench-cluster installs them)")
    if not aw.compiled:
        sys.exit("bench: afterwit is installed without its compiled modules; a C compiler is needed for a comparison")


@contextmanager
def workers(count):
    """A local cluster, as `local` starts it, each of its processes on a core of its own."""
    with aw.cluster.local(count) as client:
        for k, address in enumerate(sorted(client.nthreads())):
            client.run(bind, k, workers=[address])
        yield client


def bind(k):
    """All threads of this process on one core; those that come later are there, too."""
    cores = sorted(os.sched_getaffinity(0))
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {cores[k % len(cores)]})


def on_one_core(action):
    """The same in a thread that has one core, as do all that it starts."""

    def bound():
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            action()
        finally:
            os.sched_setaffinity(0, cores)

    return bound


def show(title, times, wanted, ours="two workers"):
    """Every contestant's time, and how many times faster two workers were."""
    print(f"\n{title}")
    for name, seconds in times.items():
        ratio = seconds / times[ours]
        figure, goal = "" if name == ours else f"{ratio:.2f} x", ""
        if name in wanted:
            goal = f"wanted >= {wanted[name]} x: {'reached' if ratio >= wanted[name] else 'NOT REACHED'}"
        print(f"  {name:<60} {seconds:>8.3f} s {figure:>9}  {goal}".rstrip(), flush=True)
    return {"case": title, "seconds": times, "wanted": wanted}


def repeated(path, megabytes, header=0):
    """Append what a file has, but for its header, until it is about so large."""
    with open(path, "rb") as file:
        file.readline() if header else None
        rows = file.read()
    with open(path, "ab") as file:
        while file.tell() < megabytes * 1e6:
            file.write(rows)


# ---------------------------------------------------------------------- speed


def text_case(two, one, path):
    """The cluster is up: a path and a learner are given, a model is taken."""

    def train(client):
        return lambda: aw.cluster.train(aw.Perceptron(), path, shards=2, client=client)

    def alone():
        aw.play(aw.Perceptron(), aw.read(path))

    times = best_times(
        {
            "two workers": train(two),
            "one worker, the same call": train(one),
            "aw.play in one process, on one core": on_one_core(alone),
            "aw.play in one process, on both cores": alone,
        },
        REPETITIONS,
    )
    title = f"{size_of(path):.0f} MB of libsvm text to a perceptron: aw.cluster.train(..., shards=2, client=...)"
    found = show(title, times, {"aw.play in one process, on one core": 1.6})
    # Other work on the machine hardly changes these.
    theirs = min(used(train(two), lambda: sum(two.run(time.process_time).values())) for _ in range(3))
    own = min(used(on_one_core(alone), time.process_time) for _ in range(3))
    print(f"  processor seconds: {theirs:.3f} of both workers, {own:.3f} of one process on one core", flush=True)
    return found | {"processor seconds": {"two workers": theirs, "one process": own}}


def used(action, clock):
    begin = clock()
    action()
    return clock() - begin


def process_case(path):
    """Whole commands: the start of Python, of Dask and of its processes is in."""
    command = run_command(path, "perceptron")
    times = best_times(
        {
            "two workers": process(*command, "--workers", "2"),
            "one process, on one core": on_one_core(process(*command)),
            "one process, on both cores": process(*command),
        },
        2,
    )
    return show(f"{size_of(path):.0f} MB, whole commands: afterwit run --workers 2", times, {})


def incremental_case(two, path):
    """Dask-ML reads the table on both workers, too; its learner goes from block to block."""
    import dask.dataframe
    from dask_ml.wrappers import Incremental

    def theirs():
        table = dask.dataframe.read_csv(path)
        model = Incremental(sgd(shuffle=False), shuffle_blocks=False)
        model.fit(table[NAMES].to_dask_array(), table["y"].to_dask_array(), classes=[0, 1])

    def ours():
        aw.cluster.train(aw.Perceptron(), path, target="y", shards=2, client=two)

    with two.as_current():
        times = best_times(
            {
                "two workers": ours,
                "Dask-ML, dask.dataframe.read_csv, Incremental(SGDClassifier)": theirs,
            },
            3,
        )
    title = f"{size_of(path):.0f} MB of CSV to a perceptron, beside Dask-ML on the same workers"
    found = show(title, times, {"Dask-ML, dask.dataframe.read_csv, Incremental(SGDClassifier)": 5})
    seconds = {}
    for name, call in (("afterwit", ours), ("Dask-ML", theirs)):
        with two.as_current():
            seconds[name] = min(used(call, lambda: sum(two.run(time.process_time).values())) for _ in range(2))
    said = ", ".join(f"{value:.3f} of {name}" for name, value in seconds.items())
    print(f"  processor seconds of both workers: {said}", flush=True)
    return found | {"processor seconds": seconds}


def held_case(two):
    """Rows that workers have in memory already: learning alone."""
    import dask.array
    from dask_ml.wrappers import Incremental

    rng = dask.array.random.default_rng(0)
    X = rng.random((400_000, 75), chunks=(25_000, 75))
    y = ((X - 0.5).sum(axis=1) > 0).astype(int)
    X, y = two.persist([X, y])

    def theirs():
        Incremental(sgd(shuffle=False), shuffle_blocks=False).fit(X, y, classes=[0, 1])

    def ours():
        aw.cluster.train(aw.Perceptron(), X, y, client=two)

    with two.as_current():
        times = best_times({"two workers": ours, "Dask-ML, Incremental(SGDClassifier)": theirs}, 3)
    return show("a dask.array of 400,000 x 75 in the memory of workers, 16 shards, beside Dask-ML", times, {})


def exact_cases(two, path, folder):
    """The results are those of one process, to the bit."""
    times = best_times(
        {
            "two workers": lambda: aw.cluster.race(path, EIGHT, certificates=False, client=two),
            "aw.race in one process, on one core": on_one_core(lambda: aw.race(path, EIGHT, certificates=False)),
            "aw.race in one process, on both cores": lambda: aw.race(path, EIGHT, certificates=False),
        },
        2,
    )
    yield show(f"race of 8 learners, {size_of(path):.0f} MB of libsvm text", times, {})
    table = str(folder / "groups.csv")
    write_groups(table)

    def alone():
        stream = aw.read(table, "y", group="shop")
        aw.play(aw.Model(stream.schema, aw.PerGroup(aw.Perceptron())), stream)

    times = best_times(
        {
            "two workers": lambda: aw.cluster.groups("perceptron", table, "y", group="shop", client=two),
            "aw.play with PerGroup, on one core": on_one_core(alone),
            "aw.play with PerGroup, on both cores": alone,
        },
        2,
    )
    yield show("200,000 rows of 500 groups", times, {})


def write_groups(path, rows=200_000, groups=500):
    generator = np.random.default_rng(4)
    X, shops = generator.standard_normal((rows, 4)), generator.integers(0, groups, rows)
    y = (np.take_along_axis(X, (shops % 4)[:, None], 1)[:, 0] > 0).astype(int)
    lines = zip(shops.tolist(), X.round(4).tolist(), y.tolist(), strict=True)
    with open(path, "w") as file:
        file.write("shop,a,b,c,d,y\n")
        file.writelines(f"shop {shop},{','.join(map(str, x))},{label}\n" for shop, x, label in lines)


def size_of(path):
    return os.path.getsize(path) / 1e6


# ---------------------------------------------------------------------- what sharding costs


def generated():
    """Rows of 200 words each of which is frequent or rare; one label in twenty is wrong. A quarter is held out."""
    generator = np.random.default_rng(5)
    X = sparse.random(60_000, 2_000, 0.02, "csr", np.float64, generator)
    X = sparse.csr_matrix(X.multiply(generator.pareto(1.5, 2_000)[None, :] > 0.2))
    y = np.where(X @ generator.standard_normal(2_000) >= 0, 1, -1)
    y[generator.random(len(y)) < 0.05] *= -1
    return (X[:45_000], y[:45_000]), (X[45_000:], y[45_000:])


def held_out(folder):
    yield ("generated, 45,000 rows of 2,000 features", *generated())
    path = Path(folder) / "a9a"
    if not path.exists():
        print(f"a9a: left out, {path} is not there (make bench-cluster DATA=FOLDER)")
        return
    from sklearn.datasets import load_svmlight_file

    rows, test = (load_svmlight_file(str(each), n_features=123) for each in (path, f"{path}.t"))
    order = np.random.default_rng(6).permutation(len(rows[1]))
    yield "a9a, held out: a9a.t", (rows[0][order], rows[1][order].astype(int)), (test[0], test[1].astype(int))


def sharding_figures(folder):
    """Mistakes while learning, and the error on rows that were held out, after one epoch and after five."""
    for name, (X, y), (X_test, y_test) in held_out(folder):
        print(f"\n{name}: mistakes of all shards and epochs / error held out; 1 shard is the learner itself")
        print(f"  {'':<20} {'epochs':>6}" + "".join(f"{f'{count} shards':>20}" for count in (1, *SHARDS)))
        for make in (aw.Perceptron, aw.AveragedPerceptron, aw.AdaGrad):
            for epochs in (1, EPOCHS):
                found = {}
                for count in (1, *SHARDS):
                    record = aw.cluster.train(make(), X, y, shards=count, epochs=epochs, client=Here())
                    error = float(np.mean(record.model.predict_many(X_test) != y_test))
                    found[count] = {"mistakes": record.mistakes, "weighted": record.weighted_mistakes, "error": error}
                cells = [f"{each['mistakes']:,} / {each['error']:.2%}" for each in found.values()]
                print(f"  {make.__name__:<20} {epochs:>6}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
                yield {"case": name, "learner": make.__name__, "epochs": epochs, "shards": found}


# ---------------------------------------------------------------------- what is moved


class Counting(Here):
    """A client in this process that pickles what shards are given and give, and counts the bytes."""

    def __init__(self):
        self.pickled = 0

    def submit(self, name, function, *arguments, part=None):
        del part
        found = function(*arguments)
        if isinstance(found, Played) and name.startswith("play"):
            self.pickled += len(pickle.dumps(arguments[2], 5)) + len(pickle.dumps(found, 5))
        return found


def moved_figures():
    """The bytes that the record has, and those of the pickles that Dask would send."""
    X, y = sparse.random(4_000, 50_000, 0.001, "lil", np.float64, np.random.default_rng(7)), np.ones(4_000, dtype=int)
    # Each shard's first row has the last feature, so that all vectors are of one length.
    X[::250, 49_999] = 1.0
    X, y[::2] = sparse.csr_matrix(X), -1
    print("\nbytes moved in an epoch, 50,000 features: as features x 8 x 2 x shards")
    for count in SHARDS:
        formula = 50_000 * 8 * 2 * count
        record, pickled = None, []
        for epochs in (2, 3):
            counting = Counting()
            record = aw.cluster.train(aw.Perceptron(), X, y, shards=count, epochs=epochs, client=counting)
            pickled.append(counting.pickled)
        # Those of the last epoch: the first begins without weights.
        found = {"record": sum(each.moved for each in record.epochs[-1]), "pickles": pickled[1] - pickled[0]}
        ratios = {name: moved / formula for name, moved in found.items()}
        print(f"  {count:>3} shards: {ratios['record']:.4f} x in the record, {ratios['pickles']:.4f} x as pickles")
        yield {"case": "bytes moved", "shards": count, "formula": formula, **found}


# ---------------------------------------------------------------------- constants for larger clusters


def constants(two, path, folder):
    """What a calculation for other clusters needs."""
    begin = time.perf_counter()
    with aw.cluster.local(2) as fresh:
        start = time.perf_counter() - begin
        begin = time.perf_counter()
        fresh.run(aw.cluster.train, aw.Perceptron(), np.eye(2), np.array([1, -1]), client=Here())
        imports = time.perf_counter() - begin
    small = str(folder / "small.svm")
    write_lines(small, "", rows=500)

    def tasks(count):
        return lambda: aw.cluster.train(aw.Perceptron(), small, shards=count, epochs=5, client=two)

    few, many = (best_times({"": tasks(count)}, 3)[""] for count in (2, 66))
    part = Part(LENGTH, (), None, {"weights": np.ones(LENGTH)}, {}, None, {})
    level = best_times({"": lambda: added(part, part)}, 5)[""]
    named = [Part(0, names_of(k), None, {"weights": np.ones(LENGTH)}, {}, None, {}) for k in (0, LENGTH // 2)]
    merge = best_times({"": lambda: added(*named)}, 2)[""]
    record = aw.cluster.train(aw.Perceptron(), path, shards=2, client=two)
    begin = time.perf_counter()
    record.certificate()
    found = {
        "a local cluster starts, s": start,
        "its workers import and learn their first rows, s": imports,
        "more time for one more shard in an epoch, ms": (many - few) / 64 / 5 * 1e3,
        "sum of two vectors, features by position, ns per feature": level / LENGTH * 1e9,
        "sum of two vectors, half of the names new, ns per feature": merge / LENGTH * 1e9,
        "a vector as it is sent, bytes per feature": len(pickle.dumps(part, 5)) / LENGTH,
        "the same with names such as word123456, bytes per feature": len(pickle.dumps(named[0], 5)) / LENGTH,
        f"certificate of {size_of(path):.0f} MB on two workers, s": time.perf_counter() - begin,
    }
    print("\nconstants")
    for name, value in found.items():
        print(f"  {name:<60} {value:>10.3f}", flush=True)
    return {"case": "constants", **found}


def names_of(begin):
    return tuple(f"word{number}" for number in range(begin, begin + LENGTH))


def main():
    need_peers()
    megabytes = float(os.environ.get("MB", 1000))
    results = [*sharding_figures(os.environ.get("DATA", ""))]
    with tempfile.TemporaryDirectory() as name, workers(2) as two:
        folder = Path(name)
        text, table = str(folder / "big.svm"), str(folder / "table.csv")
        write_lines(text, "", rows=45_000)
        repeated(text, megabytes)
        write_table(table, 130_000, words=False)
        repeated(table, megabytes / 2, header=1)
        with workers(1) as one:
            results.append(text_case(two, one, text))
        results += [process_case(text), incremental_case(two, table), held_case(two)]
        results += [*exact_cases(two, text, folder), *moved_figures(), constants(two, text, folder)]
    target = HERE / "results" / "cluster.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps({"machine": machine(), "results": results}, indent=2) + "\n")
    print(f"\nN x: how many times faster two workers were\nwritten: {os.path.relpath(target)}")


if __name__ == "__main__":
    main()
