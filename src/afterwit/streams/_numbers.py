# cython: boundscheck=False, wraparound=False, cdivision=True
"""Decimal numbers in text, exactly as Python's ``float`` reads them, at native speed when compiled.

A number is ``[+-] digits [. digits] [e [+-] digits]``; there may be digits on one side of the point only. Not more
than 15 digits with a small power of ten need one operation, which rounds correctly; up to 19 digits with a power of
ten up to 80 need one product of 192 bits, which decides unless the number lies within a hair of the middle between two
floats (Lemire, "Number parsing at a gigabyte per second", 2021). The rest is for Python: nobody else knows better.

Characters are compared by their codes: 43 and 45 are + and -, 46 is the point, 48 to 57 are digits, 69 and 101 are E
and e.
"""

from __future__ import annotations

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import ldexp
else:
    from math import ldexp

#: Up to here a power of ten has an approximation by 128 bits.
LARGEST_POWER = 80
#: 64 bits have room for every number of so many digits.
MOST_DIGITS = cython.declare(cython.Py_ssize_t, 19)
#: Where counting stops: what is that large goes to Python's own ``float``.
LARGEST_EXPONENT = cython.declare(cython.Py_ssize_t, 100_000)
LARGEST = cython.declare(cython.Py_ssize_t, LARGEST_POWER)
EXACT = cython.declare(cython.ulonglong, 2**53)
ALL_BITS = cython.declare(cython.ulonglong, 2**64 - 1)
TOP_BIT = cython.declare(cython.ulonglong, 2**63)
#: No number in text, therefore the sign that Python is to be asked.
UNKNOWN = cython.declare(cython.double, float("nan"))


def _approximation(power: int) -> tuple[int, int]:
    """The first 128 bits of 5**power, rounded down, and s with 10**power = that * 2**s."""
    five = 5 ** abs(power)
    if power >= 0:
        excess = five.bit_length() - 128
        return (five >> excess if excess > 0 else five << -excess), excess + power
    length = 127 + five.bit_length()
    return (1 << length) // five, power - length


APPROXIMATIONS = [_approximation(power) for power in range(-LARGEST_POWER, LARGEST_POWER + 1)]
TENS = np.array([10.0**power for power in range(23)])
HIGH = np.array([bits >> 64 for bits, _ in APPROXIMATIONS], dtype=np.uint64)
LOW = np.array([bits & (2**64 - 1) for bits, _ in APPROXIMATIONS], dtype=np.uint64)
SHIFT = np.array([shift for _, shift in APPROXIMATIONS], dtype=np.int32)


@cython.cclass
class NumberReader:
    """Reads numbers from the bytes that were given as ``data``. A parser derives from it, or has one.

    ``read_number(at, end)`` returns where the number that begins at ``at`` ends, or -1 if there is none, and puts it
    into ``number``. If that is NaN, Python is to be asked: ``ask_python(begin, end)``, with the GIL. It may find that
    the number is infinite, for a float. What comes after the number is for the caller to judge.
    """

    def __init__(self) -> None:
        self.data = b""
        self.number = 0.0
        self._tens = TENS
        self._high = HIGH
        self._low = LOW
        self._shift = SHIFT
        if not cython.compiled:
            # Numbers of numpy have 64 bits and warn; those of Python have as many as are needed.
            self._tens, self._high, self._low = TENS.tolist(), HIGH.tolist(), LOW.tolist()
            self._shift = SHIFT.tolist()

    def read(self, text: bytes) -> tuple[float, int, bool]:
        """The number at the beginning of a text, where it ends (-1 if there is none), and whether Python was asked."""
        self.data = text
        end = self.read_number(0, len(text))
        asked = end >= 0 and self.number != self.number
        if asked:
            self.ask_python(0, end)
        return self.number, end, asked

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_number(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        digits: cython.ulonglong = 0
        a: cython.int
        b: cython.int
        c: cython.int
        d: cython.int
        negative: cython.bint = False
        too_long: cython.bint = False
        first: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        counted: cython.Py_ssize_t
        seen: cython.Py_ssize_t
        scale: cython.Py_ssize_t = 0
        if at < end and (self.data[at] == 45 or self.data[at] == 43):
            negative = self.data[at] == 45
            at += 1
        seen = at
        while at < end and self.data[at] == 48:
            at += 1
        first = at
        stop = at + MOST_DIGITS if end - at > MOST_DIGITS else end
        while at < stop and 48 <= self.data[at] <= 57:
            digits = digits * 10 + (self.data[at] - 48)
            at += 1
        counted = at - first
        while at < end and 48 <= self.data[at] <= 57:
            too_long = True
            at += 1
        seen = at - seen
        if at < end and self.data[at] == 46:
            at += 1
            scale = at
            if counted == 0:
                while at < end and self.data[at] == 48:
                    at += 1
            stop = at + (MOST_DIGITS - counted) if end - at > MOST_DIGITS - counted else end
            # Four digits in one step: what comes next does not have to wait for so many products.
            while at + 4 <= stop:
                a = self.data[at] - 48
                b = self.data[at + 1] - 48
                c = self.data[at + 2] - 48
                d = self.data[at + 3] - 48
                if not (0 <= a <= 9 and 0 <= b <= 9 and 0 <= c <= 9 and 0 <= d <= 9):
                    break
                digits = digits * 10000 + (a * 1000 + b * 100 + c * 10 + d)
                at += 4
            while at < stop and 48 <= self.data[at] <= 57:
                digits = digits * 10 + (self.data[at] - 48)
                at += 1
            while at < end and 48 <= self.data[at] <= 57:
                too_long = True
                at += 1
            scale -= at
            seen -= scale
        if seen == 0:
            return -1
        if at < end and (self.data[at] == 101 or self.data[at] == 69):
            at += 1
            first = 0
            stop = at
            if at < end and (self.data[at] == 45 or self.data[at] == 43):
                at += 1
            if at == end or not 48 <= self.data[at] <= 57:
                return -1
            while at < end and 48 <= self.data[at] <= 57:
                if first < LARGEST_EXPONENT:
                    first = first * 10 + (self.data[at] - 48)
                at += 1
            # Beyond that the exponent has not been counted to its end.
            if first >= LARGEST_EXPONENT:
                too_long = True
            scale += -first if self.data[stop] == 45 else first
        if too_long:
            self.number = UNKNOWN
            return at
        if digits <= EXACT and -22 <= scale <= 22:
            # Both numbers are exact in double precision, so that the one operation rounds correctly.
            self.number = cython.cast(cython.double, cython.cast(cython.longlong, digits))
            if scale < 0:
                self.number /= self._tens[-scale]
            elif scale > 0:
                self.number *= self._tens[scale]
        else:
            self.number = self._rounded(digits, scale)
        if negative:
            self.number = -self.number
        return at

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def ask_python(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Read the number that ``read_number`` has found but not read."""
        self.number = float(bytes(self.data[begin:end]))
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _rounded(self, digits: cython.ulonglong, scale: cython.Py_ssize_t) -> cython.double:
        """``digits`` times 10 to the power ``scale``, or NaN if the product of 192 bits does not decide it."""
        high: cython.ulonglong
        low: cython.ulonglong
        carry: cython.ulonglong
        rest: cython.ulonglong
        half: cython.ulonglong
        drop: cython.int
        shift: cython.int = 0
        if digits == 0:
            return 0.0
        if scale < -LARGEST or scale > LARGEST:
            return UNKNOWN
        scale += LARGEST
        while digits < TOP_BIT:
            digits <<= 1
            shift -= 1
        # The first 128 bits of the product. The true ones are at most by one larger, because the power is rounded down.
        high = _high_half(digits, self._high[scale])
        low = (digits * self._high[scale]) & ALL_BITS
        carry = _high_half(digits, self._low[scale])
        low = (low + carry) & ALL_BITS
        if low < carry:
            high += 1
        # 53 of them are kept.
        drop = 11 if high >= TOP_BIT else 10
        half = cython.cast(cython.ulonglong, 1) << (drop - 1)
        rest = high & (2 * half - 1)
        high >>= drop
        if (rest == half and low == 0) or (rest == half - 1 and low == ALL_BITS):
            return UNKNOWN
        if rest >= half:
            high += 1
        number: cython.double = cython.cast(cython.double, cython.cast(cython.longlong, high))
        return ldexp(number, drop + 128 + self._shift[scale] + shift)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _high_half(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """The upper 64 bits of the product."""
    bits: cython.ulonglong = 0xFFFFFFFF
    lower: cython.ulonglong = (a & bits) * (b & bits)
    middle: cython.ulonglong = (a >> 32) * (b & bits) + (lower >> 32)
    other: cython.ulonglong = (a & bits) * (b >> 32) + (middle & bits)
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32)
