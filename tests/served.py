"""A service for tests: in this process without a socket, or as the real process on a free port."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from afterwit.serve.access import Access
from afterwit.serve.app import make_app
from afterwit.serve.engine import Engine
from afterwit.serve.limits import Limits
from afterwit.serve.logs import Log
from afterwit.serve.service import Service
from afterwit.serve.tokens import Tokens
from conftest import environment


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes
    #: The parts of the body as they were sent.
    parts: list = field(default_factory=list)

    @property
    def json(self):
        return json.loads(self.body, parse_constant=lambda name: 1 / 0)

    @property
    def error(self):
        return self.json["error"]


class InProcess:
    """The application, called as a server calls it: with any headers, and bodies in any parts."""

    def __init__(self, database, limits=None, only_here=True, expire=None):
        limits = limits or Limits()
        self.engine = Engine(str(database), limits=limits, expire=expire, commit_every=0.0)
        self.engine.start()
        assert self.engine.wait_until("ready") == "ready"
        self.tokens = Tokens(self.engine.database)
        self.service = Service(self.engine, limits, Access(self.tokens.all, only_here, limits.rate), Log())
        self.app = make_app(self.service)

    def close(self):
        self.engine.stop()

    def ask(self, method, path, body=None, headers=None, content=b"", parts=None, until=None, query="", gone=False):
        """The answer to a request.

        body   what is sent as JSON; or ``content`` as it is, or ``parts`` one after the other
        until  the caller goes away when this says so of the parts that came
        gone   the caller goes away in the middle of its body
        """
        headers = {"host": "localhost:1", **(headers or {})}
        if body is not None:
            content = json.dumps(body).encode()
        if method in ("POST", "PUT"):
            headers.setdefault("content-type", "application/json")
        pieces = list(parts) if parts is not None else [content]
        if parts is None:
            headers.setdefault("content-length", str(len(content)))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.lower().encode(), value.encode("latin-1")) for name, value in headers.items() if value is not None
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        # Where a browser is open, an event loop runs in this thread.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._call(scope, pieces, until, gone)).result()

    async def _call(self, scope, pieces, until, leaves):
        gone = asyncio.Event()
        if not self.service.stopping.is_set():
            # Every request here has an event loop of its own.
            self.service.stopping = asyncio.Event()
        found = Answer(0, {}, b"")

        async def receive():
            if pieces:
                return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces) or leaves}
            if leaves:
                return {"type": "http.disconnect"}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                found.status = message["status"]
                found.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                found.parts.append(message.get("body", b""))
                if until is not None and until(found.parts):
                    gone.set()

        await asyncio.wait_for(self.app(scope, receive, send), 30)
        found.body = b"".join(found.parts)
        return found

    def events(self, model):
        return self.engine.describe(model)["events"]


class Process:
    """The real command, in a folder of its own, on a free port unless one is given."""

    def __init__(self, folder, *options, database="served.db", port=0):
        command = [
            sys.executable,
            "-m",
            "afterwit",
            "serve",
            "--port",
            str(port),
            "--database",
            str(database),
            *map(str, options),
        ]
        self.folder = Path(folder)
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.errors = []
        self._reading = threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)
        self._reading.start()
        self.said = self.process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", self.said)
        assert found, "".join(self.errors)
        self.url, self.port = found[0].rstrip("/"), int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self._reading.join(30)
        self.process.stdout.close()
        self.process.stderr.close()

    def end(self, number=signal.SIGTERM, timeout=30):
        """Send a signal, and wait for the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(timeout)
        self._reading.join(30)
        return code

    @property
    def log(self):
        """What it has written to standard error: JSON, line by line."""
        return [json.loads(line) for line in self.errors]


def until(condition, timeout=30.0):
    """Wait for a condition; its value."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return found
