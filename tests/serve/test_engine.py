"""What the engine does beside the usual: refusals, batches in which something is wrong, expiry, freezing, deleting, full disks,
stand-bys, certificates."""

import json
import time

import pytest
from sqlalchemy import text

import afterwit as aw
from afterwit.errors import InputError, ServiceError
from afterwit.serve.engine import Engine
from afterwit.serve.limits import Limits
from afterwit.serve.operations import Create, Delete, Freeze, Label, Learn, Predict, Upload
from afterwit.serve.snapshots import newest
from afterwit.serve.spec import to_file
from postgres import MISSING, Postgres, programs
from serving import Serving


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


@pytest.fixture
def serving(sqlite):
    with Serving(sqlite) as started:
        yield started


def refused(status, call, *arguments):
    with pytest.raises(ServiceError) as caught:
        call(*arguments)
    assert caught.value.status == status
    return caught.value


# ---------------------------------------------------------------------- making models


def test_making_a_model_is_idempotent(serving):
    assert serving.create("m", "perceptron") == {"model": "m", "created": True}
    serving.learn("m", (None, {"a": 1.0}, 1))
    assert serving.create("m", "Perceptron", {"rate": 1}) == {"model": "m", "created": False}
    assert "another learner, options or schema" in str(refused(409, serving.create, "m", "perceptron", {"rate": 2.0}))
    serving.restart(snapshot=True)
    assert serving.create("m", "perceptron") == {"model": "m", "created": False}
    refused(409, serving.do, Upload("m", to_file(aw.AdaGrad())))


@pytest.mark.parametrize(
    ("learner", "options", "schema", "says"),
    [
        ("boosting", {}, None, "learner must be one of adagrad"),
        ("perceptron", {"rte": 1}, None, "Did you mean 'rate'"),
        ("perceptron", {"rate": -1}, None, "rate must be"),
        ("standardize", {"learner": {"learner": "nothing"}}, None, "learner must be one of"),
        ("perceptron", {}, {"columns": 3}, "schema must be"),
        ("perceptron", {}, {"colums": []}, "Did you mean 'columns'"),
        ("perceptron", {}, {"columns": [{"name": "a", "kind": "number"}], "weight": "w"}, "without a weight"),
        ("kernel-perceptron", {"kernel": "__import__('os')"}, None, "kernel must be an expression"),
        ("universal-portfolio", {"n_assets": 2}, None, "learner must be one of"),
    ],
)
def test_a_model_that_cannot_be_made(serving, learner, options, schema, says):
    assert says in str(refused(422, serving.create, "m", learner, options, schema))
    assert serving.engine.models() == []


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04\x95", b"x" * 100])
def test_a_file_that_is_no_model(serving, content):
    said = str(refused(422, serving.do, Upload("m", content)))
    assert said.startswith("the model file: ")
    assert "/" not in said


def test_limits(sqlite):
    with Serving(sqlite, limits=Limits(waiting=2, models=1, file=1000)) as serving:
        serving.create("m", "perceptron")
        assert refused(429, serving.create, "other", "perceptron")
        serving.predict("m", ("a", {"a": 1}), ("b", {"a": 1}))
        assert refused(429, serving.predict, "m", ("c", {"a": 1})).headers
        assert serving.predict("m", ("a", {"a": 1}))
        serving.label("m", ("a", 1))
        serving.predict("m", ("c", {"a": 1}))
        refused(413, serving.do, Upload("n", b"x" * 1001))


# ---------------------------------------------------------------------- examples and labels


def test_what_cannot_be_read_stores_nothing(serving):
    serving.create("m", "perceptron", {"labels": ["ham", "spam"]})
    serving.predict("m", ("a", {"u": 1.0}))
    before = serving.state("m")
    said = refused(422, serving.predict, "m", (None, {"u": 1.0}), (None, {"u": "one"}))
    assert (str(said), said.where) == ("x['u'] must be a finite number; received 'one'", "[1].x")
    assert refused(422, serving.predict, "m", (None, 3)).where == "[0].x"
    assert refused(422, serving.predict, "m", (None, ["1"])).where == "[0].x"
    assert refused(422, serving.predict, "m", (None, [10**400])).where == "[0].x"
    assert refused(422, serving.predict, "m", (None, {"u": float("nan")})).where == "[0].x"
    assert refused(422, serving.predict, "m", ("", {"u": 1.0})).where == "[0].id"
    assert refused(422, serving.predict, "m", ("a\0", {"u": 1.0})).where == "[0].id"
    assert refused(422, serving.predict, "m", ("\ud800", {"u": 1.0})).where == "[0].id"
    assert refused(422, serving.predict, "m", ("a" * 257, {"u": 1.0})).where == "[0].id"
    assert refused(422, serving.label, "m", ("a", "eggs")).where == "[0].y"
    assert refused(422, serving.label, "m", ("a", "spam"), ("b", ["spam"])).where == "[1].y"
    assert refused(422, serving.learn, "m", (None, {"u": 1.0}, "spam"), (None, {"u": 1.0}, None)).where == "[1].y"
    assert refused(422, serving.learn, "m", (None, {"u": 1.0}, "spam"), (None, {"u": None}, "ham")).where == "[1].x"
    assert refused(409, serving.predict, "m", ("c", {"u": 1.0}), ("c", {"u": 2.0})).where == "[1].id"
    for operation in (Predict("n", [(None, {})]), Label("n", [("a", 1)]), Delete("n"), Freeze("n", True)):
        refused(404, serving.do, operation)
    assert serving.state("m") == before
    assert len(list(serving.engine.log("m"))) == 2


def test_equal_numbers_of_another_kind_are_another_example(serving):
    serving.create("m", "perceptron")
    serving.predict("m", ("a", {"u": 1}))
    refused(409, serving.predict, "m", ("a", {"u": True}))


@pytest.mark.parametrize("name", ["sgd-regressor", "adagrad-regressor"])
def test_a_round_that_diverges(serving, tmp_path, name):
    """Only its own label is refused, the others of the batch are learned, and it waits on."""
    serving.create("m", name)
    keys = list("abcde")
    serving.predict("m", *((key, {"u": 1e300 if key == "c" else 1.0}) for key in keys))
    answers = serving.label("m", *((key, -1e300 if key == "c" else 2.0) for key in keys))
    assert serving.outcomes(answers) == ["learned", "learned", "refused", "learned", "learned"]
    assert answers[2]["message"]
    assert [each["id"] for each in serving.engine.waiting("m")] == ["c"]
    before = serving.state("m")
    refused(422, serving.label, "m", ("c", -1e300))
    examples = [(None, {"u": 1e300 if i == 1 else 1.0}, -1e300 if i == 1 else 1.0) for i in range(3)]
    assert serving.state("m") == before
    assert serving.outcomes(serving.learn("m", *examples)) == ["learned", "refused", "learned"]
    after = serving.state("m")
    serving.restart(snapshot=False)
    assert serving.state("m") == after == serving.replayed("m", tmp_path)


def test_examples_that_no_longer_fit(serving, tmp_path):
    """A fresh learner predicts anything; once it has learned names, a list of numbers is refused, and nothing else."""
    serving.create("m", "perceptron")
    serving.predict("m", ("list", [1.0, 2.0]), ("dict", {"u": 1.0}))
    serving.predict("m", ("dict too", {"v": 1.0}))
    assert serving.outcomes(serving.label("m", ("dict", -1), ("list", 1), ("dict too", -1))) == [
        "learned",
        "refused",
        "learned",
    ]
    after = serving.state("m")
    serving.restart(snapshot=False)
    assert serving.state("m") == after == serving.replayed("m", tmp_path)


def test_labels_that_decide_what_the_labels_are(serving, tmp_path):
    """Before its first label a learner says -1, which turns out to be 0: no mistake."""
    serving.create("m", "adagrad", {"rate": 0.5})
    serving.learn("m", (None, {"u": 1.0}, 1))
    serving.restart(snapshot=False)
    serving.create("n", "perceptron", {"start": {"u": -1.0}})
    assert serving.predict("n", ("a", {"u": 1.0}))[0]["label"] == -1
    serving.label("n", ("a", 0))
    totals = serving.engine.describe("n")["totals"]
    assert (totals["rounds"], totals["mistakes"]) == (1, 0)
    assert serving.predict("n", (None, {"u": 1.0}))[0]["label"] == 0
    after = serving.state("n")
    serving.restart(snapshot=False)
    assert serving.state("n") == after == serving.replayed("n", tmp_path)


def test_labels_that_are_not_asked_for(serving, tmp_path):
    serving.create("m", "selective-perceptron", {"b": 0.01, "seed": 1})
    for i in range(30):
        (said,) = serving.predict("m", (str(i), {"u": 1.0, "v": i % 3}))
        (told,) = serving.label("m", (str(i), 1 if i % 3 else -1))
        assert ("did not ask" in told.get("message", "")) is not said["asks"]
    totals = serving.engine.describe("m")["totals"]
    assert totals["waiting"] == 0 < totals["unasked"] < 30
    assert serving.engine.describe("m")["learned"] == 30
    after = serving.state("m")
    serving.restart(snapshot=False)
    assert serving.state("m") == after == serving.replayed("m", tmp_path)


def test_labels_after_a_restart_find_their_predictions(serving):
    """Tickets from before the last snapshot, and more of them than are kept in memory."""
    serving.create("m", "perceptron")
    serving.create("twin", "perceptron")
    keys = [f"k{i}" for i in range(60)]
    items = [(key, {"u": float(i % 7), "v": 1.0}) for i, key in enumerate(keys)]
    for name in ("m", "twin"):
        serving.predict(name, *items)
    serving.restart(snapshot=True)
    serving.engine._writer._recent._room = 1000
    for i, key in enumerate(reversed(keys)):
        (told,) = serving.label("m", (key, 1 if i % 3 else -1))
        assert told["outcome"] == "learned"
    serving.engine._writer._recent._room = 1 << 20
    serving.label("twin", *((key, 1 if i % 3 else -1) for i, key in enumerate(reversed(keys))))
    assert serving.engine.file("m") == serving.engine.file("twin")
    assert serving.engine.describe("m")["delays"]["rounds"]["largest"] == 59


# ---------------------------------------------------------------------- what else happens to models


def test_freezing(serving, tmp_path):
    serving.create("m", "perceptron")
    serving.predict("m", ("a", {"u": 1.0}))
    assert serving.do(Freeze("m", True)) == {"model": "m", "frozen": True}
    serving.do(Freeze("m", True))
    serving.predict("m", ("b", {"u": 1.0}))
    refused(409, serving.label, "m", ("a", 1))
    refused(409, serving.learn, "m", (None, {"u": 1.0}, 1))
    serving.restart(snapshot=False)
    refused(409, serving.label, "m", ("a", 1))
    serving.do(Freeze("m", False))
    assert serving.outcomes(serving.label("m", ("a", 1), ("b", 1))) == ["learned", "learned"]
    assert serving.state("m") == serving.replayed("m", tmp_path)
    assert [event["kind"] for event in serving.engine.log("m")][2:5] == ["freeze", "predict", "unfreeze"]


def test_a_model_that_is_made_again_knows_nothing(serving):
    serving.do(Upload("m", to_file(aw.Perceptron())))
    serving.predict("m", ("a", {"u": 1.0}))
    serving.do(Delete("m"))
    refused(404, serving.label, "m", ("a", 1))
    serving.create("m", "perceptron")
    assert serving.outcomes(serving.label("m", ("a", 1))) == ["unknown"]
    serving.predict("m", ("a", {"v": 1.0}))
    assert serving.engine.describe("m")["events"] == 2
    tables = ("models", "events", "predictions", "snapshots", "files")
    with serving.engine.database.reading.connect() as connection:
        counts = [text(f"SELECT count(*) FROM {table}") for table in tables]
        wait_for(lambda: [connection.execute(each).scalar() for each in counts] == [1, 2, 1, 0, 0])
    serving.restart(snapshot=False)
    assert serving.outcomes(serving.label("m", ("a", 1))) == ["learned"]


def test_predictions_that_expire(address, tmp_path):
    with Serving(address, expire=0.2) as serving:
        serving.create("m", "perceptron")
        serving.predict("m", ("a", {"u": 1.0}), ("b", {"u": 1.0}))
        serving.label("m", ("b", 1))
        wait_for(lambda: serving.engine.describe("m")["totals"]["expired"])
        (told,) = serving.label("m", ("a", 1))
        assert told["outcome"] == "expired"
        assert "too long" in told["message"]
        assert serving.engine.waiting("m") == []
        serving.restart(snapshot=False)
        assert serving.outcomes(serving.label("m", ("a", 1), ("b", 1))) == ["expired", "known"]
        assert serving.state("m") == serving.replayed("m", tmp_path)


def test_waiting_in_pages(serving):
    serving.create("m", "perceptron")
    serving.predict("m", *((f"k{i}", {"u": 1.0}) for i in range(5)))
    serving.label("m", ("k1", 1))
    first = serving.engine.waiting("m", 0, 3)
    assert [each["id"] for each in first] == ["k0", "k2", "k3"]
    assert [each["id"] for each in serving.engine.waiting("m", first[-1]["n"], 3)] == ["k4"]


# ---------------------------------------------------------------------- when something breaks


def test_a_full_disk(serving, tmp_path):
    """Whoever is answered is stored, whoever is not stored is told so, and the model is what the log says."""
    serving.create("m", "perceptron")
    serving.learn("m", ("a", {"u": 1.0}, -1))
    before = serving.state("m")
    pages = serving.engine._ask(
        lambda: serving.engine._writer._writing.connection.exec_driver_sql("PRAGMA page_count").scalar()
    )

    def allow(count):
        connection = serving.engine._writer._writing.connection
        connection.rollback()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {count}").scalar()
        connection.rollback()

    serving.engine._ask(lambda: allow(pages + 2))
    futures = [serving.engine.submit(Learn("m", [(str(i), {"u": 1.0, f"v{i}" * 500: 2.0}, 1)])) for i in range(40)]
    errors = [future.exception(20) for future in futures]
    assert {error.status for error in errors if error is not None} == {503}
    serving.engine._ask(lambda: allow(1 << 30))
    learned = sum(error is None for error in errors)
    assert serving.engine.describe("m")["learned"] == 1 + learned < 41
    if not learned:
        assert serving.state("m") == before
    assert serving.outcomes(serving.learn("m", *((str(i), {"u": 1.0, f"v{i}" * 500: 2.0}, 1) for i in range(40)))) == [
        "learned" if error else "known" for error in errors
    ]
    after = serving.state("m")
    assert after == serving.replayed("m", tmp_path)
    serving.restart(snapshot=False)
    assert serving.state("m") == after


def test_a_request_that_breaks_something_breaks_no_other(serving, tmp_path):
    """What nobody has thought of: the model is what the log says, and others of the same group are answered."""
    serving.create("m", "perceptron")
    hosted = serving.hosted("m")
    learn = hosted._learn

    def failing(kind, served, labels):
        learn(kind, served, labels)
        if served[0].key == "bad":
            raise ZeroDivisionError("a bug")

    def ask():
        hosted._learn = failing
        return [serving.engine.submit(Learn("m", [(key, {"u": 1.0}, -1)])) for key in ("a", "bad", "b")]

    futures = serving.engine._ask(ask)
    errors = [future.exception(20) for future in futures]
    assert [error and error.status for error in errors] in ([None, 500, None], [None, None, None])
    assert serving.engine.describe("m")["learned"] == sum(error is None for error in errors)
    assert serving.state("m") == serving.replayed("m", tmp_path)


def test_what_would_take_too_much_memory(serving):
    for learner, options in (("mlpol", {"n_experts": 10**9}), ("committee", {"learners": ["adagrad"] * 101})):
        assert "must be" in str(refused(422, serving.create, "m", learner, options))


def test_a_damaged_snapshot_is_skipped(serving):
    serving.create("m", "perceptron")
    for _ in range(2):
        serving.learn("m", (None, {"u": 1.0}, -1), (None, {"v": 1.0}, 1))
        serving.restart(snapshot=True)
    after = serving.state("m")
    with serving.engine.database.reading.connect() as connection:
        assert newest(connection, 1, "m", 5, lambda *_, **__: None).n == 5
        connection.exec_driver_sql("UPDATE snapshots SET content = substr(content, 2) WHERE n = 5")
        assert newest(connection, 1, "m", 5, lambda *_, **__: None).n == 3
        serving.restart(snapshot=False)
        assert serving.state("m") == after
        assert ("snapshot skipped", {"model": "m", "n": 5, "error": "its SHA-256 is not what it was"}) in serving.said
        connection.exec_driver_sql("UPDATE snapshots SET content = substr(content, 2)")
        serving.restart(snapshot=False)
        assert serving.state("m") == after


def test_only_one_engine_writes(address):
    with Serving(address) as serving:
        serving.create("m", "perceptron")
        other = Engine(address)
        other.start()
        try:
            assert other.wait_until("ready", timeout=0.7) == "stand-by"
            refused(503, lambda: other.submit(Predict("m", [(None, {})])).result())
            refused(503, other.models)
            serving.learn("m", (None, {"u": 1.0}, -1))
            before = serving.engine.file("m")
            serving.end(snapshot=False)
            assert other.wait_until("ready", timeout=20) == "ready"
            assert other.file("m") == before
        finally:
            other.stop()


def test_a_writer_that_has_lost_its_connection_writes_no_more(postgres):
    """PostgreSQL ends the connection that holds the lock: the stand-by takes over, and the one before becomes a stand-by."""
    address = postgres.address("lost")
    with Serving(address) as serving:
        serving.create("m", "perceptron")
        serving.predict("m", ("a", {"u": 1.0}))
        other = Engine(address, commit_every=0.0)
        other.start()
        try:
            assert other.wait_until("stand-by") == "stand-by"
            with other.database.reading.connect() as connection:
                locks = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM ({locks}) AS writer"))
            seen = []
            while "ready" not in seen:
                seen = [each.wait_until("ready", timeout=0.1) for each in (serving.engine, other) if each.state != "x"]
                if serving.engine.state == "ready":
                    # It has not noticed yet: an attempt to write must fail.
                    error = serving.engine.submit(Learn("m", [("b", {"u": 1.0}, 1)])).exception(20)
                    assert error is None or error.status == 503
                    seen = [serving.engine.state, other.state]
            assert seen.count("ready") == 1
            writer = serving.engine if serving.engine.state == "ready" else other
            assert writer.submit(Label("m", [("a", -1)])).result(20)[0]["outcome"] == "learned"
        finally:
            other.stop()


def test_a_server_that_crashes():
    """PostgreSQL itself is killed and comes back: what was answered is there."""
    if programs() is None:
        pytest.skip(MISSING)
    with Postgres() as server, Serving(server.address("crash")) as serving:
        serving.create("m", "perceptron")
        serving.predict("m", ("a", {"u": 1.0}))
        serving.label("m", ("a", -1))
        before = serving.state("m")
        server.stop("immediate")
        refused(503, serving.predict, "m", ("b", {"u": 1.0}))
        server.start()
        assert wait_for(lambda: serving.engine.wait_until("ready", timeout=0.1) == "ready")
        assert serving.state("m") == before
        assert serving.outcomes(serving.label("m", ("a", -1), ("b", 1))) == ["known", "unknown"]


def test_a_database_that_is_none(tmp_path):
    for address, says in [
        ("", "database must be a path"),
        ("mysql://x", "database must be"),
        (str(tmp_path / "no" / "a.db"), "a folder that exists"),
        ("postgresql://postgres@127.0.0.1:1/x", "cannot be used"),
    ]:
        with pytest.raises(InputError, match=says):
            Engine(address).start()
    (tmp_path / "text.db").write_text("no database, but long enough to be looked at" * 10)
    with pytest.raises(InputError, match="cannot be used"):
        Engine(str(tmp_path / "text.db")).start()


def test_an_engine_that_stops_finishes_what_it_accepted(serving):
    serving.create("m", "perceptron")
    futures = [serving.engine.submit(Learn("m", [(None, {"u": 1.0}, 1)])) for _ in range(200)]
    engine = serving.engine
    serving.end()
    assert [future.result(0)[0]["outcome"] for future in futures] == ["learned"] * 200
    refused(503, lambda: engine.submit(Create("n", "perceptron", {})).result(0))
    serving.start()
    assert serving.engine.describe("m")["learned"] == 200


# ---------------------------------------------------------------------- certificates


def certificate(serving, name, refresh=False):
    serving.engine.certificate(name, refresh)
    wait_for(
        lambda: (
            not (found := serving.engine.certificate(name))["computing"]
            and "being computed" not in found.get("why", "")
        )
    )
    return serving.engine.certificate(name)


@pytest.mark.parametrize(
    ("learner", "options", "about"),
    [("perceptron", {}, "served"), ("adagrad", {}, "learning"), ("committee", {}, "learning")],
)
def test_certificates(serving, learner, options, about):
    serving.create("m", learner, options)
    assert serving.engine.certificate("m")["certificate"] is None
    for i in range(4):
        serving.learn("m", (None, {"u": 1.0, "v": 0.1 * i}, 1), (None, {"u": -1.0, "w": 1.0}, -1))
    found = certificate(serving, "m")
    assert (found["about"], found["rounds"], found["certificate"]["verdict"]) == ("served", 8, "holds")
    serving.predict("m", *((str(i), {"u": (-1.0) ** i, "v": 0.3}) for i in range(12)))
    serving.label("m", *((str(i), 1 - 2 * (i % 2)) for i in range(12)))
    found = certificate(serving, "m", refresh=True)
    assert (found["about"], found["rounds"], found["certificate"]["verdict"]) == (about, 20, "holds")
    assert [point["rounds"] for point in found["points"]] == [8, 20]
    if about == "served":
        assert found["certificate"]["observed"] == serving.engine.describe("m")["totals"]["mistakes"]
    assert serving.engine.describe("m")["certificate"] == {"n": found["n"], "rounds": 20}
    json.dumps(found, allow_nan=False)


def test_the_certificate_of_experts_comes_from_their_state(serving):
    serving.create("m", "mlpol", {"n_experts": ["warm", "cold"]})
    for i in range(30):
        serving.predict("m", (str(i), {"warm": 1.0, "cold": 0.2 * (i % 3)}))
    for i in range(30):
        serving.label("m", (str(i), 0.5))
    found = certificate(serving, "m")
    assert (found["about"], found["rounds"], found["certificate"]["quantity"]) == ("learning", 30, "regret")
    said = serving.engine.describe("m")
    assert said["leader"] == said["weights"][0][0] in ("warm", "cold")
    assert sum(weight for _, weight in said["weights"]) == pytest.approx(1)


def test_a_learner_without_theorems_says_so(serving):
    serving.create("m", "nearest-neighbours")
    serving.learn("m", (None, {"u": 1.0}, "a"), (None, {"u": 2.0}, "b"))
    found = certificate(serving, "m")
    assert found["certificate"] is None
    assert found["why"]
