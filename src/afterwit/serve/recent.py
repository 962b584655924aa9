"""The examples that were served lately, so that their labels need not look for them in the database."""

from __future__ import annotations

from collections import OrderedDict

from afterwit.serve.log import Served

#: How many characters of the log are kept in memory.
ROOM = 24 << 20


class Recent:
    """Examples by model and id, the oldest first. What it does not have is in the database."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._taken = 0
        self._found: OrderedDict[tuple[int, str], Served] = OrderedDict()

    def get(self, model_id: int, key: str) -> Served | None:
        return self._found.get((model_id, key))

    def put(self, model_id: int, served: Served) -> None:
        """Keep one, until there is no room: at least until ``trim`` is called."""
        before = self._found.get((model_id, served.key))
        self._taken += _size(served) - (0 if before is None else _size(before))
        self._found[model_id, served.key] = served

    def trim(self) -> None:
        """Drop the oldest ones that there is no room for."""
        while self._taken > self._room and self._found:
            self._taken -= _size(self._found.popitem(last=False)[1])

    def forget(self, model_id: int) -> None:
        """Drop those of a model."""
        for key in [key for key in self._found if key[0] == model_id]:
            self._taken -= _size(self._found.pop(key))


def _size(served: Served) -> int:
    return len(served.text) + 200
