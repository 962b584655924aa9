"""The servers of `serve.py`, each in a process of its own on a free port.

``python bench/_servers.py NAME PORT`` is one of the peers: Vowpal Wabbit's daemon, FastAPI with a model of River in
memory, or a server that answers everything with the same bytes.
"""

import os
import signal
import socket
import subprocess
import sys
import time

CONNECTIONS = 32
#: How long a server may take to start, in seconds: it may have a long log to read.
LONGEST = 300
#: The last header of a request of `_load.post`.
LENGTH = b"Content-Length: "
#: What a FastAPI application is served with; `afterwit serve` has the same.
UVICORN = {
    "loop": "uvloop",
    "http": "httptools",
    "lifespan": "off",
    "ws": "none",
    "log_config": None,
    "access_log": False,
}


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A process that serves at `address` until this ends."""

    def __init__(self, command, port):
        self.command, self.address = command, ("127.0.0.1", port)

    def __enter__(self):
        self.start()
        return self

    def start(self):
        """Begin, and wait until it serves."""
        # Daemons have children: all of them end together.
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        os.set_blocking(self.process.stderr.fileno(), False)
        self.wait()

    def __exit__(self, *_):
        self.stop()

    def wait(self):
        end = time.monotonic() + LONGEST
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.command} does not serve: {self.process.stderr.read()}")
            time.sleep(0.02)

    def is_ready(self):
        try:
            socket.create_connection(self.address, 1).close()
        except OSError:
            return False
        return True

    def stop(self, number=signal.SIGTERM):
        try:
            os.killpg(self.process.pid, number)
            self.process.wait(60)
        except ProcessLookupError:
            pass
        self.process.stderr.close()


class Service(Server):
    """`afterwit serve` on a database."""

    def __init__(self, database):
        port = free_port()
        super().__init__([sys.executable, "-m", "afterwit", "serve", "--port", str(port), "--database", database], port)

    def is_ready(self):
        try:
            with socket.create_connection(self.address, 1) as asked:
                asked.sendall(f"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{self.address[1]}\r\n\r\n".encode())
                return asked.recv(100).startswith(b"HTTP/1.1 200")
        except OSError:
            return False


def peer(name):
    port = free_port()
    return Server([sys.executable, __file__, name, str(port)], port)


# ------------------------------------------------------------------ what runs in a process of its own


def vowpal(port):
    """Vowpal Wabbit's daemon has a process for every connection; they share the weights in memory."""
    import pylibvw
    from vowpalwabbit import Workspace

    options = f"--daemon --foreground --num_children {CONNECTIONS} --port {port} --loss_function logistic --quiet"
    pylibvw.vw.run_parser(Workspace(arg_list=options.split()))


def fastapi(port):
    """What a tutorial would write: a model in memory, and examples that wait for their label in a dict."""
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel
    from river import linear_model

    class Asked(BaseModel):
        id: str
        x: dict[str, float]

    class Told(BaseModel):
        id: str
        label: int

    class Example(BaseModel):
        x: dict[str, float]
        label: int

    app, model, waiting = FastAPI(), linear_model.Perceptron(), {}

    @app.post("/predictions")
    async def predict(asked: Asked):
        waiting[asked.id] = asked.x
        return {"id": asked.id, "label": int(model.predict_one(asked.x))}

    @app.post("/labels")
    async def label(told: Told):
        model.learn_one(waiting.pop(told.id), told.label)
        return {"id": told.id, "outcome": "learned"}

    @app.post("/examples")
    async def learn(examples: list[Example]):
        found = []
        for each in examples:
            found.append({"label": int(model.predict_one(each.x)), "outcome": "learned"})
            model.learn_one(each.x, each.label)
        return found

    uvicorn.run(app, host="127.0.0.1", port=port, **UVICORN)


def nothing(port):
    """What the generator of the load could do at most."""
    import asyncio

    import uvloop

    body = b'{"id":"00000000","label":1}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)

    class Same(asyncio.Protocol):
        missing = 0

        def connection_made(self, transport):
            self.transport = transport

        def data_received(self, data):
            if self.missing == 0:
                head, _, begun = data.partition(b"\r\n\r\n")
                self.missing = int(head[head.index(LENGTH) + len(LENGTH) :]) - len(begun)
            else:
                self.missing -= len(data)
            if self.missing == 0:
                self.transport.write(answer)

    async def serve():
        server = await asyncio.get_running_loop().create_server(Same, "127.0.0.1", port)
        await server.serve_forever()

    uvloop.run(serve())


PEERS = {"vowpal": vowpal, "fastapi": fastapi, "nothing": nothing}

if __name__ == "__main__":
    PEERS[sys.argv[1]](int(sys.argv[2]))
