"""The load of `serve.py`: requests made beforehand, over many connections, each of which waits for its answers.

It shares two cores with the server, so it does as little as it can: one loop over epoll, no parsing but for where an
answer ends. `serve.py` prints how fast it is alone, against a server that does nothing.
"""

import json
import select
import socket
import time

#: An answer that takes longer than this is none.
PATIENCE = 60
LENGTH = b"content-length: "


def post(path, value, host):
    """The bytes of a request."""
    body = json.dumps(value, separators=(",", ":")).encode()
    headers = f"Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"POST {path} HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body


def is_whole(data, request):
    """Whether an answer over HTTP is all here; its status must be 2xx."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return False
    if not data.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(f"refused: {data.decode()} for {request[:300]!r}")
    begin = data.find(LENGTH, 0, end) + len(LENGTH)
    return len(data) >= end + 4 + int(data[begin : data.find(b"\r", begin)])


def is_every_line(data, request):
    """Whether there is a line for each line that was sent."""
    return data.endswith(b"\n") and data.count(b"\n") == request.count(b"\n")


def drive(address, scripts, whole=is_whole):
    """Send the requests of each connection, one after the other; the seconds it took, and those of every answer."""
    poll = select.epoll()
    ready = {}
    for script in scripts:
        connection = socket.create_connection(address, PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        poll.register(connection.fileno(), select.EPOLLIN)
        ready[connection.fileno()] = [connection, iter(script), None, 0.0, b""]
    clock, latencies = time.perf_counter, []
    begin = clock()
    for state in ready.values():
        state[2], state[3] = next(state[1]), clock()
        state[0].sendall(state[2])
    open_ones = len(ready)
    while open_ones:
        events = poll.poll(PATIENCE)
        if not events:
            raise RuntimeError(f"no answer within {PATIENCE} s")
        for number, _ in events:
            state = ready[number]
            connection, script, request, sent, before = state
            data = before + connection.recv(1 << 20)
            if len(data) == len(before):
                raise RuntimeError(f"the connection was closed after {request[:300]!r}")
            if not whole(data, request):
                state[4] = data
                continue
            now = clock()
            latencies.append(now - sent)
            following = next(script, None)
            if following is None:
                open_ones -= 1
                continue
            state[2], state[3], state[4] = following, now, b""
            connection.sendall(following)
    seconds = clock() - begin
    for state in ready.values():
        state[0].close()
    poll.close()
    return seconds, latencies
