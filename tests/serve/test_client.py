"""The client: what it sends, how it tries again, what it makes of answers."""

import datetime
import json
import signal
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn.datasets import load_digits

import afterwit as aw
from afterwit.cli import _serve_demo
from afterwit.client import Client
from afterwit.errors import InputError, ServiceError
from afterwit.serve.exporting import read_exported
from afterwit.serve.replay import replay
from served import Process

LABELS = {"labels": ["ham", "spam"]}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with Process(tmp_path_factory.mktemp("client"), "--max-batch", 7, "--max-body", 2_000) as process:
        yield process
        assert process.end() == 0


@pytest.fixture
def client(served):
    with Client(served.url) as found:
        for model in [each["model"] for each in found.models()]:
            found.delete(model)
        yield found


def test_one_by_one_and_many_are_the_same_learner(client, tmp_path):
    X = [{"a": float(i % 5), "b": float(i % 3)} for i in range(40)]
    y = ["spam" if i % 5 > 2 else "ham" for i in range(40)]
    learner = aw.Perceptron(labels=("ham", "spam"))
    assert [client.create(model, "perceptron", LABELS) for model in ("one", "many", "one")] == [True, True, False]
    for x, label in zip(X, y, strict=True):
        client.label_one("one", client.predict_one("one", x)["id"], label)
        learner.learn_one(x, label)
    # More than a request may have: the client divides them.
    answers = client.learn_many("many", X, y)
    assert len(answers) == 40
    assert client.file("one") == client.file("many") == learner
    client.file("one", tmp_path / "one.aw")
    assert aw.load(tmp_path / "one.aw") == learner
    asked = client.predict_many("many", X)
    assert [each["label"] for each in asked] == [learner.predict_one(x) for x in X]
    told = client.label_many("many", [each["id"] for each in asked], y)
    assert {each["outcome"] for each in told} == {"learned"}


def test_requests_are_as_small_as_the_service_wants_them(client):
    client.create("a", "perceptron", LABELS)
    # Each of 600 bytes; three fit into a body.
    answers = client.predict_many("a", [{"n" * 500: float(i)} for i in range(10)])
    assert len({each["id"] for each in answers}) == 10
    with pytest.raises(ServiceError, match="the body must have at most 2,000 bytes") as refused:
        client.predict_many("a", [{"n" * 3_000: 1.0}])
    assert refused.value.status == 413


def test_errors_are_the_sentences_of_the_service(client):
    client.create("a", "perceptron", LABELS)
    client.predict_one("a", {"x": 1}, id="q")
    client.label_one("a", "q", "ham")
    for call, status, where in (
        (lambda: client.describe("none"), 404, None),
        (lambda: client.predict_one("none", {}), 404, None),
        (lambda: client.create("a", "committee", LABELS), 409, None),
        (lambda: client.predict_one("a", {"x": {}}), 422, "x.x"),
        (lambda: client.label_one("a", "q", "spam"), 409, None),
        (lambda: client.label_one("a", "nobody", "spam"), 404, None),
        (lambda: client.learn_many("a", [{"x": 1}, {"x": "text"}], ["ham", "spam"]), 422, "[1].x"),
        (lambda: next(client.log("none")), 404, None),
        (lambda: client.describe("../x"), 422, "model"),
    ):
        with pytest.raises(ServiceError) as refused:
            call()
        assert (refused.value.status, refused.value.where) == (status, where), refused.value


def test_examples_may_have_any_form(client):
    import pandas as pd
    import polars as pl
    from scipy.sparse import csr_array

    client.create("rows", "perceptron", {"labels": [-1, 1]})
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    client.learn_many("rows", X, np.array([1, -1]))
    client.learn_many("rows", csr_array(X), [1, -1])
    client.learn_one("rows", X[0], np.int64(1))
    learner = aw.Perceptron()
    learner.learn_many(np.vstack([X, X, X[:1]]), [1, -1, 1, -1, 1])
    assert client.file("rows") == learner
    records = [{"day": datetime.date(2026, 1, 5), "price": 3.0}, {"day": datetime.date(2026, 1, 6), "price": None}]
    sold = [{**each, "sold": label} for each, label in zip(records, ("yes", "no"), strict=True)]
    schema = aw.read(sold, target="sold").schema
    for i, table in enumerate((records, pd.DataFrame(records), pl.DataFrame(records))):
        client.create(f"table{i}", "committee", {"labels": ["no", "yes"]}, schema)
        client.learn_many(f"table{i}", table, ["yes", "no"])
    assert client.file("table0") == client.file("table1") == client.file("table2")
    with pytest.raises(InputError, match="x and y must be what JSON has"):
        client.predict_one("rows", {"a": object()})
    with pytest.raises(InputError, match="the name of a feature must be a string; received 3"):
        client.predict_one("rows", {3: 1.0})
    with pytest.raises(InputError, match=r"y must be as long as X \(2\); received 1"):
        client.learn_many("rows", X, [1])


def test_experts_are_asked_with_advice(client):
    client.create("mix", "mlpol", {"n_experts": ["a", "b"]})
    learner = aw.MLpol(["a", "b"])
    asked = client.predict_one("mix", {"a": 1.0, "b": 3.0})
    client.label_one("mix", asked["id"], 1.5)
    assert asked["forecast"] == learner.learn_one({"a": 1.0, "b": 3.0}, 1.5)
    client.learn_many("mix", np.array([[1.0, np.nan], [2.0, 5.0]]), [1.0, 2.0])
    learner.learn_many(np.array([[1.0, np.nan], [2.0, 5.0]]), [1.0, 2.0])
    assert client.file("mix") == learner


def test_a_learner_of_ones_own_is_uploaded(client, tmp_path):
    learner = aw.Perceptron(labels=("ham", "spam"))
    learner.learn_one({"a": 1}, "ham")
    assert [client.create("mine", learner), client.create("mine", learner)] == [True, False]
    assert client.file("mine") == learner
    aw.save(learner, tmp_path / "mine.aw")
    assert client.upload("again", tmp_path / "mine.aw") is True
    with pytest.raises(InputError, match="cannot be read"):
        client.upload("again", tmp_path / "none.aw")
    with pytest.raises(InputError, match="options and schema are for a learner of the catalogue"):
        client.create("mine", learner, LABELS)


def test_the_log_is_read_and_played_again(client, tmp_path):
    client.create("a", "perceptron", LABELS)
    client.learn_many("a", [{"x": float(i)} for i in range(20)], ["ham", "spam"] * 10)
    assert [event["n"] for event in client.log("a")] == list(range(1, 22))
    assert [event["n"] for event in client.log("a", after=19)] == [20, 21]
    for name in ("log.jsonl", "log.parquet"):
        client.log("a", tmp_path / name)
        played = replay(read_exported(str(tmp_path / name)), name, None)
        assert played.hosted.learner == client.file("a")
        assert played.different == []
    with pytest.raises(InputError, match=r"path must be a name that ends with \.jsonl or \.parquet"):
        client.log("a", tmp_path / "log.csv")


def test_what_else_there_is(client):
    client.create("a", "perceptron", LABELS)
    ids = [each["id"] for each in client.predict_many("a", [{"x": float(i)} for i in range(9)])]
    assert [each["id"] for each in client.waiting("a")] == ids
    client.label_many("a", ids[:8], ["ham", "spam"] * 4)
    assert [each["id"] for each in client.waiting("a")] == ids[8:]
    assert client.curve("a")["rounds"][-1] == 8
    client.freeze("a")
    assert client.describe("a")["frozen"] is True
    client.unfreeze("a")
    found = client.certificate("a", refresh=True)
    assert (found["computing"], found["certificate"]["rounds"]) == (False, 8)
    client.delete("a")
    assert client.models() == []


def test_the_demo_tells_every_label_that_comes(client, capsys):
    digits = load_digits()
    X, y = digits.data[:300].tolist(), [_serve_demo.LABELS[target == 8] for target in digits.target[:300].tolist()]
    _serve_demo._play(client, X, y, 1e9)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "demo: is this scanned digit an 8? 300 images, 1e+09 a second"
    for model in _serve_demo.MODELS:
        totals = client.describe(model)["totals"]
        assert totals["predictions"] == 300
        assert totals["labels"] + totals["waiting"] == 300
        assert 0 < totals["waiting"] < 20
        assert (
            f"demo: {model}: {totals['rounds']} rounds, error {totals['error']:.1%}, {totals['waiting']} waiting"
            in said
        )


def test_addresses_are_checked():
    for url in ("", "localhost:80", "ftp://localhost", "http://"):
        with pytest.raises(InputError, match="url must be an address such as"):
            Client(url)
    with pytest.raises(InputError, match="received 'nowhere'"):
        Client("nowhere")


# ------------------------------------------------------------------ trying again


@pytest.fixture
def scripted():
    """A server that answers as it is told, and keeps what it was asked."""
    script, asked = [], []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            asked.append((self.command, self.path, body))
            step = script.pop(0)
            if step is None:
                # As a server that is killed before it has answered.
                self.connection.close()
                return
            status, headers, value = step
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, each in {"content-length": str(len(content)), **headers}.items():
                self.send_header(name, each)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    with Client(f"http://127.0.0.1:{server.server_port}", "a-token", patience=5.0) as found:
        found.script, found.asked = script, asked
        yield found
    server.shutdown()
    thread.join()
    server.server_close()


ROLE = (200, {}, {"role": "classifier"})


def test_a_request_is_sent_again_as_it_was(scripted):
    answer = {"id": "x", "label": "ham"}
    for status in (429, 502, 503, 504):
        scripted.script += [ROLE] if status == 429 else []
        scripted.script += [(status, {}, {"error": "later"}), None, (status, {}, b"<html>"), (200, {}, answer)]
        scripted.asked.clear()
        assert scripted.predict_one("a", {"x": 1}) == answer
        sent = {body for method, _, body in scripted.asked if method == "POST"}
        # The same id each time: the service does nothing twice.
        assert len(sent) == 1
        assert json.loads(sent.pop())["id"]
        assert sum(method == "POST" for method, _, _ in scripted.asked) == 4


def test_what_will_not_succeed_is_not_sent_again(scripted):
    for status in (400, 401, 403, 404, 409, 410, 413, 415, 422, 500):
        scripted.script.append((status, {}, {"error": "no", "where": "x"}))
        scripted.asked.clear()
        with pytest.raises(ServiceError) as refused:
            scripted.describe("a")
        assert (refused.value.status, refused.value.message, refused.value.where, len(scripted.asked)) == (
            status,
            "no",
            "x",
            1,
        )


def test_it_waits_as_long_as_it_is_told(scripted, monkeypatch):
    waited = []
    monkeypatch.setattr("afterwit.client.time.sleep", waited.append)
    scripted.script += [(429, {"retry-after": "3"}, {}), (503, {}, {}), (503, {}, {}), (200, {}, {"models": []})]
    assert scripted.models() == []
    assert waited[0] == 3.0
    assert 0.05 <= waited[1] <= 0.1
    assert 0.1 <= waited[2] <= 0.2


def test_it_gives_up_in_the_end(scripted):
    scripted._patience = 0.3
    scripted.script += [(503, {}, {"error": "it is full"})] * 20
    with pytest.raises(ServiceError, match="it is full") as refused:
        scripted.models()
    assert refused.value.status == 503
    assert 2 <= len(scripted.asked) < 10
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with (
            Client(f"http://127.0.0.1:{port}", patience=0.2) as client,
            pytest.raises(ServiceError, match=f"no answer from http://127.0.0.1:{port}: "),
        ):
            client.models()


def test_a_model_that_was_deleted_when_the_answer_was_lost_is_deleted(scripted):
    scripted.script += [None, (404, {}, {"error": "there is no model 'a'"})]
    scripted.delete("a")
    scripted.script += [(404, {}, {"error": "there is no model 'a'"})]
    with pytest.raises(ServiceError):
        scripted.delete("a")


def test_a_log_that_breaks_off_goes_on(scripted):
    lines = [json.dumps({"n": n}).encode() + b"\n" for n in range(1, 6)]
    # It announces more than it sends, as a server that is killed.
    scripted.script += [
        (200, {"content-length": "1000"}, b"".join(lines[:3])),
        (503, {}, {}),
        (200, {}, b"".join(lines[3:])),
    ]
    assert [event["n"] for event in scripted.log("a")] == [1, 2, 3, 4, 5]
    assert [path.partition("?")[2] for _, path, _ in scripted.asked] == [
        "format=jsonl&after=0",
        "format=jsonl&after=3",
        "format=jsonl&after=3",
    ]


def test_a_client_survives_a_service_that_is_killed(tmp_path):
    """Labels and predictions while the service is killed and started again: each is learned once."""
    with Process(tmp_path) as process, Client(process.url) as client:
        client.create("a", "perceptron", LABELS)
        port, done, failed = process.port, [], []

        def work():
            try:
                for i in range(120):
                    key = client.predict_one("a", {"x": float(i % 7), "one": 1.0})["id"]
                    client.label_one("a", key, "spam" if i % 7 > 3 else "ham")
                    done.append(key)
            except BaseException as error:
                failed.append(error)

        worker = threading.Thread(target=work)
        worker.start()
        for at in (20, 60):
            while len(done) < at and worker.is_alive():
                worker.join(0.005)
            process.end(signal.SIGKILL)
            process.__exit__()
            process = Process(tmp_path, port=port)
        worker.join(60)
        assert failed == []
        learner = aw.Perceptron(labels=("ham", "spam"))
        for i in range(120):
            learner.learn_one({"x": float(i % 7), "one": 1.0}, "spam" if i % 7 > 3 else "ham")
        assert client.file("a") == learner
        assert client.describe("a")["totals"]["labels"] == len(done) == 120
        assert process.end() == 0
        process.__exit__()
