"""The HTTP protocol of uvicorn, with a limit on what comes before a body."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

#: Bytes of the address and the headers of a request. The parser itself would take any number.
MOST = 65_536


class Protocol(HttpToolsProtocol):
    """Ends connections whose headers do not end."""

    _before = 0
    _in_headers = False

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self._before, self._in_headers = 0, True

    def on_headers_complete(self) -> None:
        """Stop counting."""
        self._in_headers = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        super().data_received(data)
        if self._in_headers:
            self._before += len(data)
            if self._before > MOST and not self.transport.is_closing():
                self.send_400_response(f"The headers of a request must have at most {MOST} bytes.")
