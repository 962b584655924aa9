"""What is exact on a cluster: races, sweeps, committees and groups on real processes are those of one process, to the bit."""

import io
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import afterwit as aw
from afterwit.cluster import Here, committee, groups, local, race, sweep
from afterwit.cluster import shards as planning
from afterwit.core.storage import write_model
from afterwit.errors import ClusterError, DivergenceError, InputError, StreamError
from afterwit.streams.model import Model

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


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Rows of shops: many of some, one of others; some without a label; ties and all scales."""
    random = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("rows")
    lines = ["shop,a,b,huge,tiny,kind,load,sold"]
    for i in range(1500):
        shop = f"s{random.integers(0, 12)}" if i % 50 else f"once{i}"
        a, b, c = random.standard_normal(3)
        kind = random.choice(["x", "y", "z"], p=[0.8, 0.1, 0.1] if a > 0 else [0.1, 0.45, 0.45])
        sold = "" if i % 97 == 5 else "yes" if a + (b if shop in ("s1", "s2") else -b) > 0.2 * c else "no"
        lines.append(f"{shop},{a:.3f},{b:.1f},{1e6 * c:.0f},{1e-7 * a * b:.12f},{kind},{3 * a + b + c:.3f},{sold}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "rows.csv")


def without_times(found):
    told = found.to_dict()
    for each in told["learners"]:
        each.pop("microseconds_per_example")
    return told


def assert_same_race(found, wanted):
    assert without_times(found) == without_times(wanted)
    assert [each.name for each in found.entries] == [each.name for each in wanted.entries]
    for one, other in zip(found.entries, wanted.entries, strict=True):
        assert one.learner == other.learner
        assert one.record == other.record
        assert one.total_log_loss == other.total_log_loss


# ---------------------------------------------------------------------- races

FEW = ["committee", "sgd", "perceptron", "passive-aggressive"]
MANY = ["multiclass-perceptron", "averaged-multiclass-perceptron"]


@pytest.mark.parametrize("target", ["sold", "kind", "load"])
def test_a_race_is_that_of_one_process(client, path, target):
    ignore = ["shop"]
    learners = ["online-ridge", "scale-free-regressor"] if target == "load" else FEW if target == "sold" else MANY
    wanted = aw.race(path, learners, target=target, ignore=ignore)
    found = race(path, learners, target=target, ignore=ignore, client=client, patience=LIMIT)
    assert_same_race(found, wanted)
    if target == "sold":
        assert found.unlabelled == 16
        # The record can look back.
        assert len(found.entries[0].record.moments()) == 12


@pytest.mark.parametrize("workers", [1, 4])
def test_nothing_depends_on_the_number_of_workers(path, workers):
    names = ["perceptron", "sgd", "adagrad"]
    wanted = aw.race(path, names, "sold")
    with local(workers, memory_limit=0) as started:
        assert_same_race(race(path, names, "sold", client=started, patience=LIMIT), wanted)
        each = committee(aw.Committee(names), path, "sold", shards=3, client=started, patience=LIMIT)
        one = aw.Committee(names)
        assert each == aw.play(one, aw.read(path, "sold"))
        run = groups("sgd", path, "sold", group="shop", client=started, patience=LIMIT)
        model = one_process(aw.SGD(), path, "sold")[0]
        assert bytes_of(run.model) == bytes_of(model)


def test_a_learner_that_diverges_is_out_of_the_race(client):
    X = np.full((40, 2), 1e150)
    y = np.tile([1, -1], 20)
    wanted = aw.race(X, ["perceptron", "adagrad"], y=y)
    found = race(X, ["perceptron", "adagrad"], y=y, client=client, patience=LIMIT)
    assert_same_race(found, wanted)
    learner = aw.Perceptron(labels=("no", "yes"))
    race([({"a": 1.0}, "no"), ({"a": -1.0}, "yes")] * 8, [learner], client=Here())
    assert learner.rounds == 16


def test_a_sweep_is_a_race_of_settings(client, path):
    settings = {"rate": [0.1, 1.0], "loss": ["hinge", "logistic"]}
    found = sweep("sgd", settings, path, "sold", client=client, patience=LIMIT)
    learners = {
        f"rate={rate}, loss={loss}": aw.SGD(rate=rate, loss=loss)
        for rate in settings["rate"]
        for loss in settings["loss"]
    }
    assert_same_race(found, aw.race(path, learners, "sold"))
    kept = sweep(aw.SGD(intercept=False, rate=7.0), {"rate": [0.5]}, path, "sold", client=Here())
    assert kept.entries[0].learner.parameters["intercept"] is False


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: sweep("sgd", {}, path, "sold"), "settings must be a dict of options"),
        (lambda path: sweep("sgd", {"rate": 1.0}, path, "sold"), "settings\\['rate'\\] must be a list"),
        (lambda path: sweep("sgd", {"rates": [1.0]}, path, "sold"), "Unknown option 'rates' of SGD. Did you mean 'rate'"),
        (lambda path: sweep("sgd", {"rate": [1.0, 1.0]}, path, "sold"), "different values of each option"),
        (lambda path: race(iter([]), ["sgd"], client=Here()), "can be read again"),
        (lambda path: race(aw.read([{"a": 1, "y": 1}] * 4, "y"), ["sgd"], client=Here()), "what the stream was read from"),
        (lambda path: committee(aw.Perceptron(), path, "sold"), "a Committee, MulticlassCommittee or Regression"),
        (lambda path: groups("sgd", path, "sold", client=Here()), "group must be the column"),
        (lambda path: groups("sgd", path, "sold", group="shops", client=Here()), "no column 'shops'. Did you mean 'shop'"),
        (lambda path: groups("sgd", np.eye(3), y=[0, 1, 0], group="shop", client=Here()), "the name of the group of each"),
        (lambda path: groups("sgd", np.eye(3), y=[0, 1, 0], group=[1, 2], client=Here()), "group must be as long as X"),
        (lambda path: groups("sgd", aw.read(path, "sold"), client=Here()), "read it with group=COLUMN"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(path, call, message):
    with pytest.raises(aw.errors.AfterwitError, match=message):
        call(path)


def test_partitions_of_dask_are_no_source_of_a_race(client):
    import dask.array as da

    with pytest.raises(InputError, match="every worker plays all rows"):
        race(da.zeros((4, 2)), ["sgd"], y=[0, 1, 0, 1], client=client)


# ---------------------------------------------------------------------- committees

COMMITTEES = [
    (lambda: aw.Committee(), "sold"),
    (lambda: aw.Committee(["perceptron", "sgd", "nearest-neighbours"][:2], weighting="boa"), "sold"),
    (lambda: aw.Committee(["perceptron"]), "sold"),
    (lambda: aw.MulticlassCommittee(), "kind"),
    (lambda: aw.MulticlassCommittee(["multiclass-perceptron", "adagrad"], weighting="adahedge"), "kind"),
    (lambda: aw.RegressionCommittee(), "load"),
    (lambda: aw.RegressionCommittee(["scale-free-regressor", "online-ridge"], weighting="adahedge"), "load"),
]


@pytest.mark.parametrize("case", range(len(COMMITTEES)))
def test_a_committee_is_that_of_one_process(client, path, case):
    make, target = COMMITTEES[case]
    wanted, found = make(), make()
    record = aw.play(wanted, aw.read(path, target))
    assert committee(found, path, target, shards=1 + case, client=client, patience=LIMIT) == record
    assert found == wanted
    assert bytes_of(found) == bytes_of(wanted)
    assert found.certificate().to_dict() == wanted.certificate().to_dict()


def test_a_committee_goes_on_and_has_its_schema(client, path):
    stream = aw.read(path, "sold")
    members = {"learners": ["sgd", "adagrad"], "labels": ("no", "yes")}
    wanted, found = (Model(stream.schema, aw.Committee(**members)) for _ in range(2))
    for _ in range(2):
        one, other = aw.play(wanted, path), committee(found, path, shards=2, client=client, patience=LIMIT)
        assert one == other
    assert bytes_of(found) == bytes_of(wanted)
    assert other.certificate().to_dict() == one.certificate().to_dict()


def test_committees_of_rows_in_memory_and_of_lines(client, tmp_path):
    random = np.random.default_rng(4)
    X = random.standard_normal((300, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    wanted, found = (aw.Committee(["sgd", "perceptron"], labels=("a", "b")) for _ in range(2))
    assert committee(found, X, y=y, shards=3, client=client, patience=LIMIT) == aw.play(wanted, X, y)
    assert found == wanted
    lines = [
        f"{(-1, 1)[t % 2]} " + " ".join(f"{j}:{X[t, j % 3]:.3f}" for j in range(1, 2 + t % 40)) for t in range(300)
    ]
    (tmp_path / "f.libsvm").write_text("\n".join(lines) + "\n")
    wanted, found = aw.Committee(["sgd", "perceptron"]), aw.Committee(["sgd", "perceptron"])
    record = aw.play(wanted, aw.read(str(tmp_path / "f.libsvm")))
    assert committee(found, str(tmp_path / "f.libsvm"), shards=4, client=client, patience=LIMIT) == record
    assert found == wanted


def test_a_member_that_diverges_leaves_the_rounds_before(client):
    X, y = np.ones((60, 2)), np.tile([1, -1, 1], 20)
    X[37:40] = 1.7e308
    wanted, found = (aw.Committee(["perceptron", "sgd"], labels=(-1, 1)) for _ in range(2))
    with pytest.raises(DivergenceError) as one:
        aw.play(wanted, X, y)
    with pytest.raises(DivergenceError) as other:
        committee(found, X, y=y, shards=3, client=client, patience=LIMIT)
    assert str(other.value) == str(one.value)
    assert found == wanted
    assert found.rounds == 38


# ---------------------------------------------------------------------- groups


def one_process(learner, path, target, **reading):
    stream = aw.read(path, target, group="shop", **reading)
    model = Model(stream.schema, aw.PerGroup(learner))
    return model, aw.play(model, stream)


GROUPED = [
    (aw.Perceptron, "sold"),
    (aw.SGD, "sold"),
    (lambda: aw.Committee(["sgd", "perceptron"]), "sold"),
    (aw.MulticlassPerceptron, "kind"),
    (aw.OnlineRidge, "load"),
    (lambda: aw.AdaGradRegressor(loss="absolute"), "load"),
]


@pytest.mark.parametrize("case", range(len(GROUPED)))
def test_groups_are_those_of_one_process(client, path, case):
    make, target = GROUPED[case]
    reading = {"task": "classes"} if target == "kind" else {}
    model, record = one_process(make(), path, target, **reading)
    run = groups(
        make(), path, target, group="shop", shards=1 + case, certificates=case in (1, 4), client=client, **reading
    )
    assert run.record == record
    assert run.learner.groups == model.learner.groups
    assert bytes_of(run.model) == bytes_of(model)
    if run.certificates is not None:
        assert run.certificates.to_dict() == record.certificate().to_dict()
    assert run.learner["once0"].rounds == 1


def test_one_group_and_groups_of_rows_in_memory(client):
    X = np.random.default_rng(5).standard_normal((200, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    for names in (["all"] * 200, list(range(200)), [(i % 7, "x") for i in range(200)], [1.0, 1, True, 2] * 50):
        wanted = aw.PerGroup(aw.Perceptron(labels=(-1, 1)))
        wanted.learn_many(names, X, y)
        run = groups("perceptron", X, y=y, group=names, shards=3, client=client, patience=LIMIT)
        assert bytes_of(run.learner) == bytes_of(wanted)
        assert run.record.mistakes == wanted.mistakes


def test_groups_go_on(client, path):
    wanted, _ = one_process(aw.SGD(), path, "sold")
    found = aw.cluster.groups(Model(wanted.schema, aw.PerGroup(aw.SGD())), path, client=client, patience=LIMIT).model
    aw.play(wanted, path)
    again = groups(found, path, shards=2, client=client, patience=LIMIT)
    assert again.model is found
    assert bytes_of(found) == bytes_of(wanted)


def test_groups_of_a_frame_of_dask(client, path):
    frame = pytest.importorskip("dask.dataframe").read_csv(path, blocksize=20_000)
    run = groups("online-ridge", frame, "load", group="shop", task="regression", client=client, patience=LIMIT)
    pandas = frame.compute().reset_index(drop=True)
    stream = aw.read(pandas, "load", group="shop", task="regression")
    model = Model(stream.schema, aw.PerGroup(aw.OnlineRidge()))
    record = aw.play(model, stream)
    assert run.record == record
    assert bytes_of(run.model) == bytes_of(model)


# ---------------------------------------------------------------------- faults


class Slow:
    """A shard that cannot be read before its gate is open."""

    def __init__(self, shard, gate):
        self.shard, self.gate = shard, gate

    def stream(self, data):
        open(f"{self.gate}.{os.getpid()}", "w").close()
        end = time.monotonic() + LIMIT
        while not os.path.exists(self.gate) and time.monotonic() < end:
            time.sleep(0.01)
        return self.shard.stream(data)


@pytest.fixture
def killed(tmp_path, monkeypatch):
    """The first worker that begins a shard is killed; then the others may go on."""
    plan, gate, names = planning.plan, str(tmp_path / "gate"), []

    def slow(*given, **how):
        made = plan(*given, **how)
        made.shards = [(Slow(shard, gate), data) for shard, data in made.shards]
        return made

    def kill():
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and not names:
            names.extend(name for name in os.listdir(tmp_path) if name.startswith("gate."))
            time.sleep(0.01)
        os.kill(int(names[0].split(".")[1]), signal.SIGKILL)
        open(gate, "w").close()

    monkeypatch.setattr(planning, "plan", slow)
    thread = threading.Thread(target=kill)
    thread.start()
    yield names
    thread.join(LIMIT)


def test_a_worker_that_is_killed_changes_no_committee(client, path, killed):
    wanted, found = aw.Committee(["sgd", "adagrad"]), aw.Committee(["sgd", "adagrad"])
    record = aw.play(wanted, aw.read(path, "sold"))
    assert committee(found, path, "sold", shards=4, client=client, patience=LIMIT) == record
    assert killed
    assert bytes_of(found) == bytes_of(wanted)


def test_a_worker_that_is_killed_changes_no_group(client, path, killed):
    model, record = one_process(aw.SGD(), path, "sold")
    run = groups("sgd", path, "sold", group="shop", shards=4, client=client, patience=LIMIT)
    assert killed
    assert run.record == record
    assert bytes_of(run.model) == bytes_of(model)


def test_a_row_that_cannot_be_read_names_file_and_line(client, path, tmp_path):
    lines = Path(path).read_text().splitlines()
    lines[1200] = "s1,1,oops,1,1,x,1,yes"
    broken = tmp_path / "broken.csv"
    broken.write_text("\n".join(lines) + "\n")
    whole = aw.Committee(["sgd", "adagrad"])
    how = {"numeric": ["b"], "client": client, "patience": LIMIT}
    for call in (
        lambda: committee(whole, str(broken), "sold", shards=3, **how),
        lambda: groups("sgd", str(broken), "sold", group="shop", shards=3, **how),
        lambda: race(str(broken), ["sgd", "adagrad"], "sold", **how),
    ):
        with pytest.raises(StreamError) as failure:
            call()
        assert (failure.value.path, failure.value.line) == (str(broken), 1201)
    assert whole.rounds == 0
    missing = tmp_path / "missing.csv"
    lines[1200] = ",1,1,1,1,x,1,yes"
    missing.write_text("\n".join(lines) + "\n")
    with pytest.raises(StreamError, match=r"missing.csv, line 1,?201.*the name of a group was expected; found nothing"):
        groups("sgd", str(missing), "sold", group="shop", shards=3, client=client, patience=LIMIT)


def test_waiting_has_a_limit_and_says_for_what(client, path, tmp_path, monkeypatch):
    gate, plan = str(tmp_path / "gate"), planning.plan

    def slow(*given, **how):
        made = plan(*given, **how)
        made.shards = [(Slow(shard, gate), data) for shard, data in made.shards]
        return made

    monkeypatch.setattr(planning, "plan", slow)
    try:
        with pytest.raises(ClusterError, match=r"waiting for part 1 of 1 of .*rows\.csv"):
            committee(aw.Committee(["sgd"]), path, "sold", client=client, patience=0.5)
        with pytest.raises(ClusterError, match=r"waiting for the rows of .*rows\.csv"):
            groups("sgd", path, "sold", group="shop", client=client, patience=0.5)
    finally:
        open(gate, "w").close()
