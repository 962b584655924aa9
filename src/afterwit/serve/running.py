"""Running the service: its socket, its HTTP server, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib.util
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from afterwit.errors import AfterwitError, InputError, Words, invalid, shorten
from afterwit.serve.access import is_loopback
from afterwit.serve.app import make_app
from afterwit.serve.service import Service

#: Connections at the same time; more are told to come back.
MOST_CONNECTIONS = 1_000
#: Seconds until an idle connection is closed. Longer than most proxies and clients keep one.
IDLE = 75
#: Seconds that requests have to come to their end when the service stops.
PATIENCE = 30
#: Seconds between two looks at what may have changed outside: tokens, and whether the engine is well.
LOOK = 1.0


def bind(host: str, port: int) -> socket.socket:
    """A socket at this address, where nobody else listens."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise invalid("--host", "a name or an address of this machine", Words(f"{shorten(host)} ({error})")) from None
    found = socket.socket(family, kind, protocol)
    if os.name == "posix":
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(address)
        # Who comes while models are recovered is told so, and not kept waiting.
        found.listen(2048)
    except OSError as error:
        found.close()
        raise _unusable(error, host, port) from None
    return found


def _unusable(error: OSError, host: str, port: int) -> InputError:
    if error.errno == errno.EADDRINUSE:
        wrong = invalid("--port", "free", Words(f"{port}, where another program listens"))
        return InputError(f"{wrong}. Choose another one; --port 0 takes any that is free")
    if error.errno == errno.EACCES:
        return invalid("--port", "one that this user may listen at, such as 8765", port)
    return invalid("--host", "an address of this machine", Words(f"{shorten(host)} ({error.strerror})"))


def address_of(listening: socket.socket) -> str:
    """The address of the page, for this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def only_here(listening: socket.socket) -> bool:
    """Whether only this machine can reach that socket."""
    return is_loopback(listening.getsockname()[0])


def run(service: Service, listening: socket.socket, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes; then finish what was accepted, and stop the engine.

    announce  is called with the address of the page when it can be opened
    """
    options: dict[str, Any] = {
        "lifespan": "off",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": MOST_CONNECTIONS,
        "timeout_keep_alive": IDLE,
        "timeout_graceful_shutdown": PATIENCE,
    }
    if importlib.util.find_spec("httptools"):
        from afterwit.serve.protocol import Protocol

        options["http"] = Protocol
    server = _Server(uvicorn.Config(make_app(service), **options), service, lambda: announce(address_of(listening)))
    with _ending(server):
        server.run(sockets=[listening])
        service.log("stopping")
        service.engine.stop()
    if server.failure is not None:
        raise server.failure
    service.log("stopped")


@contextlib.contextmanager
def _ending(server: _Server) -> Iterator[None]:
    """The first signal lets the service end cleanly. The second one ends the process: what was answered is on disk."""

    def end(number: int, _frame: Any) -> None:
        if server.should_exit:
            os._exit(128 + number)
        server.should_exit = True

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """uvicorn's server, with an engine behind it."""

    def __init__(self, config: uvicorn.Config, service: Service, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self.failure: AfterwitError | None = None
        self._service = service
        self._announce = announce
        self._watching: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are handled until the engine has stopped, which is longer than this server runs."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections; the engine recovers meanwhile."""
        await super().startup(sockets)
        self._watching = asyncio.create_task(self._watch())
        self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more; streams end, and requests are finished."""
        if self._watching is not None:
            self._watching.cancel()
        self._service.stopping.set()
        await super().shutdown(sockets)

    async def _watch(self) -> None:
        """Notice tokens that were added or removed, and an engine that has failed."""
        service = self._service
        failing = False
        while True:
            await asyncio.sleep(LOOK)
            if service.engine.state == "failed":
                self.failure = AfterwitError("the service has failed; the last lines of its log say why")
                self.should_exit = True
                return
            try:
                await asyncio.to_thread(service.access.refresh)
                failing = False
            except Exception as error:
                # The database is away. Those who were known stay known until it is back.
                if not failing:
                    service.log("tokens cannot be read", "warning", error=shorten(Words(error), 300))
                failing = True
