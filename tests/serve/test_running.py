"""The real process: how it begins, how it ends, and what it says when it cannot."""

import contextlib
import json
import signal
import socket
import sqlite3
import sys
import threading

import httpx
import pytest

from afterwit.cli.serve import LIMITS
from afterwit.serve.limits import Limits
from served import Process, until

MODEL = {"learner": "perceptron", "options": {"labels": ["ham", "spam"]}}


def ready(process):
    until(lambda: httpx.get(f"{process.url}/readyz").status_code == 200)


def learned(folder, database="served.db"):
    """How many examples are in the log."""
    with sqlite3.connect(folder / database) as connection:
        return connection.execute("SELECT count(*) FROM events WHERE kind = 'learn'").fetchone()[0]


def test_the_address_as_json(tmp_path):
    with Process(tmp_path, "--json") as process:
        assert json.loads(process.said) == {"address": f"{process.url}/", "database": f"{tmp_path}/served.db"}
        ready(process)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_finishes_what_it_accepted_and_ends_cleanly(tmp_path, number):
    """Callers that never stop: whatever was answered is there, whatever was not answered was refused."""
    answered = []
    with Process(tmp_path, "--commit-every", 20) as process:
        ready(process)
        assert process.said == f"afterwit serves {tmp_path}/served.db at {process.url}/ (Ctrl-C stops it)\n"
        assert httpx.put(f"{process.url}/models/a", json=MODEL).status_code == 201

        def call(i):
            with httpx.Client(base_url=process.url) as http:
                n = 0
                while True:
                    try:
                        answer = http.post("/models/a/examples", json={"id": f"{i}-{n}", "x": {"a": 1}, "label": "ham"})
                    except httpx.TransportError:
                        return
                    if answer.status_code == 503:
                        return
                    assert answer.status_code == 200
                    answered.append(answer.json()["id"])
                    n += 1

        callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
        for caller in callers:
            caller.start()
        # A page that is open does not keep the service.
        with httpx.Client() as browser, browser.stream("GET", f"{process.url}/live") as page:
            next(page.iter_lines())
            until(lambda: len(answered) > 40)
            assert process.end(number) == 0
        for caller in callers:
            caller.join(30)
        assert [line["event"] for line in process.log][-4:] == ["stopping", "state", "state", "stopped"]
    assert len(set(answered)) == len(answered) > 40
    with sqlite3.connect(tmp_path / "served.db") as connection:
        stored = {key for (key,) in connection.execute("SELECT key FROM events WHERE kind = 'learn'")}
    assert set(answered) <= stored
    # At most one request of each caller was stored and could not be answered.
    assert len(stored) - len(answered) <= 4


def test_a_second_signal_ends_it_at_once(tmp_path):
    with Process(tmp_path) as process:
        ready(process)
        # A caller in the middle of its request keeps the service from ending.
        with socket.create_connection(("127.0.0.1", process.port)) as caller:
            caller.sendall(
                b"POST /models/a/labels HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
            )
            process.process.send_signal(signal.SIGTERM)
            until(lambda: not _listens(process.port))
            assert process.process.poll() is None
            assert process.end(signal.SIGTERM, timeout=5) == 128 + signal.SIGTERM


def _listens(port):
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def test_a_request_that_is_half_sent_is_finished(tmp_path):
    body = b'{"x": {"a": 1}, "label": "ham"}'
    with Process(tmp_path) as process:
        ready(process)
        httpx.put(f"{process.url}/models/a", json=MODEL)
        with socket.create_connection(("127.0.0.1", process.port)) as caller:
            head = b"POST /models/a/examples HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            caller.sendall(head % len(body) + body[:5])
            process.process.send_signal(signal.SIGTERM)
            until(lambda: not _listens(process.port))
            caller.sendall(body[5:])
            answer = b""
            while part := caller.recv(65_536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        assert process.process.wait(30) == 0
    assert learned(tmp_path) == 1


def failure(run_cli, *options):
    found = run_cli("serve", "--port", "0", *options)
    assert (found.returncode, found.stdout) == (2, ""), found.stderr
    (line,) = found.stderr.splitlines()
    return line


def test_what_it_cannot_do_is_said_in_a_sentence(run_cli, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        message = f"afterwit: --port must be free; received {port}, where another program listens. Choose another one; --port 0 takes any that is free"
        assert failure(run_cli, "--port", port) == message
    assert failure(run_cli, "--host", "no.such.host.invalid").startswith(
        "afterwit: --host must be a name or an address of this machine; received 'no.such"
    )
    assert failure(run_cli, "--host", "203.0.113.1").startswith(
        "afterwit: --host must be an address of this machine; received '203.0.113.1' ("
    )
    (tmp_path / "text.db").write_text("this is no database" * 100)
    (tmp_path / "folder.db").mkdir()
    for database, part in (
        ("text.db", "file is not a database"),
        ("folder.db", "unable to open database file"),
        ("none/a.db", "must be a file in a folder that exists"),
        (
            "mysql://root@localhost/a",
            "must be a path, sqlite:///path or postgresql://user@host/name; received mysql://...",
        ),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "cannot be used"),
    ):
        message = failure(run_cli, "--database", database)
        assert message.startswith("afterwit: database"), message
        assert part in message
        assert "secret" not in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--expire", "soon"), "--expire must be a time such as 30d, 12h, 90m or 45s; received 'soon'"),
        (("--expire", "0d"), "--expire must be a time such as 30d, 12h, 90m or 45s; received '0d'"),
        (("--rate", "0"), "--rate must be a number above 0; received 0.0"),
        (("--rate", "nan"), "--rate must be a number above 0; received nan"),
    ],
)
def test_options_are_checked(run_cli, options, message):
    found = run_cli("serve", *options)
    assert (found.returncode, found.stderr) == (2, f"afterwit: {message}\n")


def test_without_its_packages_it_names_what_to_install(run_cli, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in [name for name in sys.modules if name.startswith("afterwit.serve")]:
        monkeypatch.delitem(sys.modules, name)
    for arguments in (("serve",), ("token", "list")):
        found = run_cli(*arguments)
        message = "afterwit: services need sqlalchemy, which is not installed: pip install 'afterwit[serve]'\n"
        assert (found.returncode, found.stderr) == (2, message)
    # What the command takes is said without them.
    assert run_cli("serve", "--help").returncode == 0
    assert run_cli("--help").returncode == 0


def test_the_limits_of_the_command_are_those_of_the_service():
    defaults = Limits()
    assert {name: default for name, (default, _, _) in LIMITS.items()} == {
        name: getattr(defaults, name) for name in LIMITS
    }


def test_headers_without_end_are_refused_and_the_log_is_json(tmp_path):
    with Process(tmp_path, "--log-requests", "--expire", "1h") as process:
        ready(process)
        with socket.create_connection(("127.0.0.1", process.port)) as caller:
            caller.settimeout(30)
            caller.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ")
            received = b""
            with contextlib.suppress(ConnectionError):
                for _ in range(1_000):
                    caller.sendall(b"y" * 10_000)
                while part := caller.recv(65_536):
                    received += part
            # Whether the answer arrives before the connection is reset is up to the system; that it ends is not.
            assert received == b"" or received.startswith(b"HTTP/1.1 400 ")
        httpx.get(f"{process.url}/nothing?token=secret")
        assert process.end() == 0
        events = [line["event"] for line in process.log]
        assert (events[0], events[-1]) == ("starting", "stopped")
        requests = [line for line in process.log if line["event"] == "request"]
        assert {"method": "GET", "path": "/nothing", "status": 404}.items() <= requests[-1].items()
        assert "secret" not in json.dumps(process.log)
