# cython: boundscheck=False, wraparound=False, cdivision=True
"""Names of features in text, interned for each block in a table of hashes, at native speed when compiled.

The bytes of the names are kept one after the other: a string of Python is made for each name of a block, not for each
time that it occurs. The hash, which the parser computes while it looks for the end of a name, has a random factor, so
that nobody can write a file whose names all meet in one place.
"""

from __future__ import annotations

import secrets
from itertools import pairwise
from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.afterwit.streams._numbers import NumberReader
else:
    from afterwit.streams._numbers import NumberReader

#: The hash of a byte after others is (their hash ^ byte) * this.
FACTOR = secrets.randbits(64) | 1


@cython.cclass
class NameReader(NumberReader):
    """Numbers the names of a block in the order in which they first occur.

    A name is a feature in the current namespace, whose place in ``data`` the parser knows: ``namespace^feature``, or
    the feature alone if the namespace is empty.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stamp = 0
        self._space_begin = self._space_end = 0
        self._names = 0
        self._name_ends = np.zeros(1, dtype=np.int64)
        self._hashes = np.empty(0, dtype=np.uint64)
        self._places = np.empty(0, dtype=np.int64)
        self._last_lines = np.empty(0, dtype=np.int64)
        self._last_entries = np.empty(0, dtype=np.int64)
        self._table = np.zeros(16, dtype=np.int32)
        self._letters = np.empty(16, dtype=np.uint8)

    def names(self) -> list[str]:
        """All names, in the order of their numbers."""
        return texts(self._letters, np.asarray(self._name_ends[: self._names + 1]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _find(self, hashed: cython.ulonglong, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The number of the feature in the current namespace, or -1."""
        mask: cython.Py_ssize_t = self._table.shape[0] - 1
        place: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, hashed >> 33) & mask
        name: cython.Py_ssize_t
        while True:
            name = self._table[place] - 1
            if name < 0 or (self._hashes[name] == hashed and self._is_same(name, begin, end)):
                return name
            place = (place + 1) & mask

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _is_same(self, name: cython.Py_ssize_t, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Whether a name is that of the feature in the current namespace."""
        at: cython.Py_ssize_t = self._name_ends[name]
        space: cython.Py_ssize_t = self._space_end - self._space_begin
        if self._name_ends[name + 1] - at != end - begin + space + (space > 0):
            return False
        if space > 0:
            for k in range(self._space_begin, self._space_end):
                if self._letters[at] != self.data[k]:
                    return False
                at += 1
            if self._letters[at] != 94:
                return False
            at += 1
        for k in range(begin, end):
            if self._letters[at] != self.data[k]:
                return False
            at += 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2, check=False)
    def _add(self, hashed: cython.ulonglong, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """A number for a new name; -1 if it is not UTF-8."""
        name: cython.Py_ssize_t = self._names
        at: cython.Py_ssize_t = self._name_ends[name]
        k: cython.Py_ssize_t
        length: cython.Py_ssize_t = at + end - begin + self._space_end - self._space_begin + 1
        if not self._is_text(begin, end):
            return -1
        if name == self._hashes.shape[0] or length > self._letters.shape[0]:
            with cython.gil:
                self._grow(length)
        for k in range(self._space_begin, self._space_end):
            self._letters[at] = self.data[k]
            at += 1
        if self._space_end > self._space_begin:
            self._letters[at] = 94
            at += 1
        for k in range(begin, end):
            self._letters[at] = self.data[k]
            at += 1
        self._name_ends[name + 1] = at
        self._hashes[name] = hashed
        self._last_lines[name] = -1
        self._names += 1
        self._enter(name)
        return name

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _enter(self, name: cython.Py_ssize_t) -> cython.int:
        """Put a name into the table."""
        mask: cython.Py_ssize_t = self._table.shape[0] - 1
        place: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self._hashes[name] >> 33) & mask
        while self._table[place] != 0:
            place = (place + 1) & mask
        self._table[place] = cython.cast(cython.int, name + 1)
        self._places[name] = place
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _forget(self, names: cython.Py_ssize_t) -> cython.int:
        """Forget all names but the first: the last that came are the first to go, so that the table is as it was."""
        while self._names > names:
            self._names -= 1
            self._table[self._places[self._names]] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _grow(self, letters: cython.Py_ssize_t) -> cython.int:
        """Make room for one more name, and for so many bytes of names."""
        name: cython.Py_ssize_t
        if letters > len(self._letters):
            self._letters = _longer(self._letters, 2 * letters)
        if self._names == len(self._hashes):
            names = max(64, 2 * self._names)
            self._name_ends = _longer(self._name_ends, names + 1)
            self._hashes = _longer(self._hashes, names)
            self._places = _longer(self._places, names)
            self._last_lines = _longer(self._last_lines, names)
            self._last_entries = _longer(self._last_entries, names)
            # At least half of the table is free.
            self._table = np.zeros(2 * names, dtype=np.int32)
            for name in range(self._names):
                self._enter(name)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _is_text(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Whether it is UTF-8."""
        c: cython.uchar
        low: cython.uchar
        high: cython.uchar
        more: cython.int
        while at < end:
            c = self.data[at]
            at += 1
            if c < 128:
                continue
            low, high = 128, 191
            if 194 <= c <= 223:
                more = 1
            elif 224 <= c <= 239:
                more = 2
                if c == 224:
                    low = 160
                elif c == 237:
                    high = 159
            elif 240 <= c <= 244:
                more = 3
                if c == 240:
                    low = 144
                elif c == 244:
                    high = 143
            else:
                return False
            while more > 0:
                if at == end or not low <= self.data[at] <= high:
                    return False
                low, high = 128, 191
                at += 1
                more -= 1
        return True


def _longer(array: Any, length: int) -> Any:
    """The same numbers with room for more."""
    old = np.asarray(array)
    longer = np.empty(length, dtype=old.dtype)
    longer[: len(old)] = old
    return longer


def texts(letters: Any, ends: Any) -> list[str]:
    """The texts that are one after the other in an array of bytes, where the first end is 0."""
    places = ends.tolist()
    content = np.asarray(letters)[: max(places)].tobytes()
    if content.isascii():
        text = content.decode("ascii")
        return [text[begin:end] for begin, end in pairwise(places)]
    return [content[begin:end].decode("utf-8") for begin, end in pairwise(places)]
