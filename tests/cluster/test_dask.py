"""Shards on a real cluster of processes: the same bytes whoever does what, faults, collections of Dask, the command line."""

import io
import os
import signal
import threading
import time

import distributed
import numpy as np
import pytest

import afterwit as aw
from afterwit.cluster import Here, local, train
from afterwit.cluster.work import OnDask
from afterwit.core.certificate import Verdict
from afterwit.core.storage import write_model
from afterwit.errors import ClusterError, InputError, StreamError

pytestmark = [pytest.mark.installed_only, pytest.mark.filterwarnings("default")]
#: So that no test can hang.
LIMIT = 60.0


def bytes_of(model):
    file = io.BytesIO()
    write_model(model, file)
    return file.getvalue()


@pytest.fixture(scope="module")
def client():
    with local(2, memory_limit=0) as started:
        yield started


def table(folder, files=3, count=400):
    random = np.random.default_rng(0)
    for number in range(files):
        lines = ["a,b,town,y"]
        for _ in range(count):
            a, b = random.standard_normal(2)
            lines.append(f"{a},{b},{random.choice(['x', 'y', 'z'])},{'yes' if a + b > 0 else 'no'}")
        (folder / f"part-{number}.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "part-*.csv")


def test_workers_give_memory_back_as_other_processes_do(client):
    # With this variable of Dask's, which blocks of rows do not bear, parsing takes three times as long.
    told = client.run(os.environ.get, "MALLOC_TRIM_THRESHOLD_")
    assert set(told.values()) == {os.environ.get("MALLOC_TRIM_THRESHOLD_")}


def test_shards_are_spread_over_the_workers(client, tmp_path):
    # All begin with the same weights, and Dask would put them where these are.
    with distributed.get_task_stream(client) as stream:
        train(aw.Perceptron(), table(tmp_path), target="y", shards=2, epochs=6, client=client, patience=LIMIT)
    played = [(each["key"].split("-")[2], each["worker"]) for each in stream.data if "-play-" in each["key"]]
    assert sorted(played) == sorted(list(zip("01", sorted(client.nthreads()), strict=True)) * 6)


@pytest.mark.parametrize("name", ["Perceptron", "AveragedPerceptron", "AdaGrad", "NormalizedAdaGrad", "OnlineSVM"])
def test_two_workers_give_the_bytes_of_this_process(client, tmp_path, name):
    source = table(tmp_path)
    here, there = (
        train(getattr(aw, name)(), source, target="y", shards=5, epochs=3, client=where, patience=LIMIT)
        for where in (Here(), client)
    )
    assert bytes_of(there.model) == bytes_of(here.model)
    assert there.epochs == here.epochs
    if name in ("Perceptron", "AveragedPerceptron"):
        one, other = here.certificate(), there.certificate()
        assert one.to_dict() == other.to_dict()
        assert one.verdict is Verdict.HOLDS


@pytest.mark.parametrize("workers", [1, 4])
def test_other_numbers_of_workers_give_the_same_bytes(client, tmp_path, workers):
    source = table(tmp_path)
    wanted = train(aw.AdaGrad(), source, target="y", shards=6, epochs=2, client=client, patience=LIMIT)
    found = train(aw.AdaGrad(), source, target="y", shards=6, epochs=2, workers=workers, patience=LIMIT)
    assert bytes_of(found.model) == bytes_of(wanted.model)


def test_rows_in_memory(client):
    random = np.random.default_rng(1)
    X, y = random.standard_normal((300, 4)), random.choice([0, 1], 300)
    here, there = (
        train(aw.Perceptron(), X, y, shards=4, epochs=2, client=where, patience=LIMIT) for where in (Here(), client)
    )
    assert bytes_of(there.model) == bytes_of(here.model)
    assert there.model.labels == (0, 1)
    assert here.certificate().to_dict() == there.certificate().to_dict()


class Slow:
    """Pure, and slow enough to be killed on the way: the file of rows says when it may go on."""

    def __init__(self, shard, path):
        self.shard, self.path = shard, path

    def stream(self, data):
        with open(f"{self.path}.{os.getpid()}", "w"):
            pass
        end = time.monotonic() + LIMIT
        while not os.path.exists(self.path) and time.monotonic() < end:
            time.sleep(0.01)
        return self.shard.stream(data)


def test_a_worker_that_is_killed_in_an_epoch_changes_nothing(client, tmp_path, monkeypatch):
    from afterwit.cluster import shards as planning

    (tmp_path / "rows").mkdir()
    source, gate = table(tmp_path / "rows"), str(tmp_path / "gate")
    wanted = train(aw.AveragedPerceptron(), source, target="y", shards=4, epochs=3, client=Here())
    plan = planning.plan
    slow = lambda *given, **how: with_shards(plan(*given, **how), gate)  # noqa: E731
    monkeypatch.setattr(planning, "plan", slow)
    killed = []

    def kill():
        """The first worker that has begun a shard, once it has; then the others may go on."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            begun = [name for name in os.listdir(tmp_path) if name.startswith("gate.")]
            if begun:
                os.kill(int(begun[0].split(".")[1]), signal.SIGKILL)
                killed.append(begun[0])
                break
            time.sleep(0.01)
        open(gate, "w").close()

    thread = threading.Thread(target=kill)
    thread.start()
    found = train(aw.AveragedPerceptron(), source, target="y", shards=4, epochs=3, client=client, patience=LIMIT)
    thread.join(LIMIT)
    assert killed
    assert bytes_of(found.model) == bytes_of(wanted.model)
    assert found.epochs == wanted.epochs


def with_shards(plan, gate):
    plan.shards = [(Slow(shard, gate), data) for shard, data in plan.shards]
    return plan


def test_a_shard_that_cannot_be_read_names_file_and_line(client, tmp_path):
    source = table(tmp_path)
    path = tmp_path / "part-1.csv"
    lines = path.read_text().splitlines()
    lines[299] = "1,oops,x,yes"
    path.write_text("\n".join(lines) + "\n")
    learner = aw.Perceptron()
    with pytest.raises(StreamError) as failure:
        train(learner, aw.read(source, target="y", numeric=["b"]), shards=7, epochs=2, client=client, patience=LIMIT)
    assert (failure.value.path, failure.value.line) == (str(path), 300)
    assert "column b: a finite number was expected" in str(failure.value)
    assert learner.rounds == 0
    skipping = aw.read(source, target="y", numeric=["b"], on_error="skip")
    assert train(aw.Perceptron(), skipping, shards=7, client=client, patience=LIMIT).skipped == 1


def test_a_shard_that_is_gone_leaves_the_last_whole_epoch(client, tmp_path):
    source, saved = table(tmp_path), tmp_path / "model.aw"
    wanted = train(aw.Perceptron(), source, target="y", shards=3, epochs=4, client=Here())

    def progress(number, done, record):
        if number == 2 and done == 3 and len(record.epochs) == 2:
            (tmp_path / "part-2.csv").rename(tmp_path / "gone")

    with pytest.raises(StreamError, match=r"there is no such file .* has the model after epoch 2 of 4"):
        train(
            aw.Perceptron(), source, target="y", shards=3, epochs=4, client=client, save=saved, on_progress=progress,
            patience=LIMIT,
        )  # fmt: skip
    (tmp_path / "gone").rename(tmp_path / "part-2.csv")
    found = train(aw.Perceptron(), source, target="y", shards=3, epochs=2, client=client, resume=saved, patience=LIMIT)
    assert bytes_of(found.model) == bytes_of(wanted.model)


def test_waiting_ends_and_says_for_what(client, tmp_path):
    work = OnDask(client, patience=0.3)
    gate = str(tmp_path / "gate")
    task = work.submit("play", _wait_for, gate)
    with pytest.raises(
        ClusterError, match=r"nothing has happened for 0.3 seconds while waiting for the end .*2 workers"
    ):
        work.result(task, "the end")
    open(gate, "w").close()
    work.close()


def _wait_for(path):
    end = time.monotonic() + LIMIT
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.01)


def test_tasks_are_cancelled_when_a_run_ends(client, tmp_path):
    source = table(tmp_path)

    def progress(number, done, record):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(aw.Perceptron(), source, target="y", shards=8, client=client, on_progress=progress, patience=LIMIT)
    end = time.monotonic() + LIMIT
    while any("afterwit" in key for keys in client.processing().values() for key in map(str, keys)):
        assert time.monotonic() < end
        time.sleep(0.02)


# ---------------------------------------------------------------------- collections of Dask


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(2)
    X = random.standard_normal((500, 3))
    return X, np.where(X @ [1.0, -1.0, 0.5] > 0.1, 1, -1)


def test_arrays_are_shards_by_their_chunks(client, rows):
    import dask.array as da

    X, y = rows
    found = train(
        aw.Perceptron(), da.from_array(X, chunks=(125, 2)), da.from_array(y, chunks=90), client=client, epochs=2, patience=LIMIT
    )  # fmt: skip
    wanted = train(aw.Perceptron(), X, y, shards=4, epochs=2, client=Here())
    assert bytes_of(found.model) == bytes_of(wanted.model)
    assert found.certificate().to_dict() == wanted.certificate().to_dict()
    cut = train(aw.Perceptron(), da.from_array(X, chunks=(60, 3)), y, shards=4, epochs=2, client=client, patience=LIMIT)
    assert bytes_of(cut.model) == bytes_of(wanted.model)


def test_data_frames_are_shards_by_their_partitions(client, rows):
    import dask.dataframe as dd
    import pandas as pd

    X, y = rows
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, town=np.where(X[:, 0] > 1, "x", "z"))
    found = train(aw.Perceptron(), dd.from_pandas(frame, npartitions=4), target="y", client=client, patience=LIMIT)
    assert (found.shards, found.rounds) == (4, 500)
    assert sorted(found.model.learner.weights) == ["a", "b", "c", "town=x", "town=z"]
    assert found.certificate().verdict is Verdict.HOLDS
    with pytest.raises(InputError, match="target names the column to predict"):
        train(aw.Perceptron(), dd.from_pandas(frame, npartitions=2), client=client, patience=LIMIT)


def test_bags_are_shards_by_their_partitions(client, rows):
    import dask.bag as db

    X, y = rows
    records = [{"a": float(x[0]), "b": float(x[1]), "y": int(label)} for x, label in zip(X, y, strict=True)]
    bag = db.from_sequence(records, npartitions=3)
    found = train(aw.Perceptron(), bag, target="y", client=client, patience=LIMIT)
    pairs = [({"a": each["a"], "b": each["b"]}, each["y"]) for each in records]
    other = train(aw.Perceptron(), db.from_sequence(pairs, npartitions=3), client=client, patience=LIMIT)
    assert found.model.learner.weights == other.model.weights
    assert [len(heard) for heard in found.epochs] == [bag.npartitions]


def test_a_collection_needs_a_cluster(rows):
    import dask.array as da

    X, y = rows
    with pytest.raises(InputError, match="client must be a client of Dask"):
        train(aw.Perceptron(), da.from_array(X), da.from_array(y), client=Here())


# ---------------------------------------------------------------------- the command line


def test_the_command_line(run_process, run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(tmp_path)
    how = ("--target", "y", "--learner", "perceptron", "--workers", "2", "--shards", "4", "--epochs", "2")
    result = run_process("run", "part-*.csv", *how, "--model", "m.aw", "--report", "r.html")
    assert (result.returncode, result.stderr) == (0, "")
    assert "perceptron on part-*.csv (3 files), 2 workers, 2 epochs" in result.stdout
    assert "4 shards, mixed 2 times with equal weights: " in result.stdout
    assert "weighted mistakes at most" in result.stdout
    assert "\n  mistakes   bound " in result.stdout
    wanted = train(aw.Perceptron(), "part-*.csv", target="y", shards=4, epochs=2, client=Here())
    assert aw.load("m.aw").learner == wanted.model.learner
    assert aw.load("m.aw").kept_certificate["bound"] == pytest.approx(wanted.certificate().bound)
    assert "weighted mistakes" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--passes", "2"), "--passes must be left out with --workers or --cluster, because --epochs says"),
        (("--save-every", "5", "--model", "m"), "--save-every must be left out"),
        (("--skip-learned",), "--skip-learned must be left out"),
        (("--predictions", "p"), "--predictions must be left out"),
        (("--scores", "p"), "--scores must be left out"),
        (("--probabilities", "p"), "--probabilities must be left out"),
        (("--limit", "3"), "--limit must be left out"),
        (("--order-by", "a"), "--order-by must be left out"),
        (("--cluster", "tcp://127.0.0.1:1"), "--workers must be left out, because the cluster has its workers"),
    ],
)
def test_options_that_make_no_sense_there_are_refused(run_cli, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    table(tmp_path, files=1)
    result = run_cli("run", "part-0.csv", "--target", "y", "--workers", "1", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["part-0.csv"]


@pytest.mark.parametrize("option", ["--shards", "--epochs", "--patience"])
def test_options_of_shards_need_a_cluster(run_cli, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    table(tmp_path, files=1)
    result = run_cli("run", "part-0.csv", "--target", "y", option, "2")
    assert (result.returncode, f"{option} must be given together with --workers or --cluster" in result.stderr) == (
        2,
        True,
    )
