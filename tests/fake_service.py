"""A service that says what a test wants: the page and the JSON of `afterwit serve`, with nothing behind them.

with FakeService({"spam": model("spam", rounds=10)}) as service:
    service.change("spam", rounds=20)
"""

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from afterwit.serve.assets import POLICY, assets


class FakeService:
    def __init__(self, models=(), token=None, errors=()):
        self.models = {each["model"]: each for each in models}
        self.curves, self.certificates = {}, {}
        self.token, self.errors, self.asked = token, list(errors), []
        self.port = 0
        self._version, self._changed = 0, threading.Condition()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Listen, after a stop on the same port."""
        self._running = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        self._running = False
        self.change()
        self._server.shutdown()
        self._server.server_close()

    def change(self, name=None, **what):
        """Change a model, and tell all pages."""
        with self._changed:
            if name is not None:
                self.models[name] |= what
            self._version += 1
            self._changed.notify_all()

    def events(self, model=None):
        """What the stream says, with one model in full, whenever something has changed, until this service stops."""
        seen = -1
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._version != seen or not self._running, 30)
                if not self._running:
                    return
                seen = self._version
                said = {"service": self.service(), "models": [self.in_short(each) for each in self.models.values()]}
                if model is not None:
                    described = self.models.get(model)
                    said["shown"] = described and {"model": described, "curve": self.curves[model]}
            yield f"data: {json.dumps(said)}\n\n".encode()

    def in_short(self, said):
        return {name: said[name] for name in ("model", "learner", "role", "frozen", "events")} | said["totals"]

    def service(self):
        return {"state": "ready", "requests_per_second": 12.5, "errors": self.errors}

    def answer(self, path, query):
        """Status and JSON, or None for what does not exist."""
        match path.split("/"):
            case ["models", name, "certificate"] if name in self.models:
                if "refresh" in query:
                    self.refreshed(name)
                return self.certificates.get(name, {"certificate": None, "why": "no certificate has been made yet"})
            case ["models", name, "file"] if name in self.models:
                return {"file": name}
        return None

    def refreshed(self, name):
        """What happens where a fresh certificate is asked for."""


def _handler(service):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path, _, query = self.path[1:].partition("?")
            service.asked.append(path)
            asset = assets().get(path)
            if asset is not None:
                self.send(200, asset.content, asset.media_type)
            elif service.token and self.headers["Authorization"] != f"Bearer {service.token}":
                said = "this token is not known" if self.headers["Authorization"] else "a token is needed"
                self.send(401, json.dumps({"error": said}).encode())
            elif path == "live":
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                for event in service.events(query.removeprefix("model=") or None):
                    self.wfile.write(event)
            else:
                said = service.answer(path, query)
                if said is None:
                    self.send(404, json.dumps({"error": f"there is no {path}"}).encode())
                else:
                    self.send(200, json.dumps(said).encode())

        def send(self, status, content, kind="application/json"):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

        def handle(self):
            with suppress(BrokenPipeError, ConnectionResetError):
                super().handle()

    return Handler
