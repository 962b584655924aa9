"""Numbers in text are those that Python's ``float`` reads, to the last bit, and Python is asked for few of them."""

import math
import re
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afterwit.streams._numbers import NumberReader

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def read(text):
    number, end, asked = NumberReader().read(text.encode())
    return number, end, asked


def check(text):
    """Read it and compare; whether Python was asked."""
    number, end, asked = read(text)
    assert end == len(text)
    assert struct.pack("d", number) == struct.pack("d", float(text)), text
    return asked


def middle(x):
    """The decimal digits, all of them, of what is in the middle between a float and the next one."""
    return Fraction(x) + Fraction(math.nextafter(x, math.inf) - x) / 2


forms = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(1e-70, 1e70).map(lambda x: f"{x:.18e}"),
    st.tuples(st.integers(-(10**22), 10**22), st.integers(-110, 110)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
    st.from_regex(r"[+-]?[0-9]{0,24}(\.[0-9]{0,24})?([eE][+-]?[0-9]{1,3})?", fullmatch=True).filter(NUMBER.fullmatch),
)


@given(forms)
@example("-0")
@example("0e99999")
@example("9007199254740993")
@example("9007199254740992.5")
@example("18446744073709551615")
@example("9999999999999999999e80")
@example("1e-80")
@example("1e-81")
@example("5e-324")
@example("0.000000000000000000000000000000123456789012345678")
def test_every_number_is_read_exactly(text):
    check(text)


@pytest.mark.parametrize("power", range(-60, 61, 4))
def test_numbers_near_the_middle_between_two_floats_are_rounded_as_python_does(power):
    # 18 or 19 digits, just below, at and just above what is as near to one float as to the other.
    random = np.random.default_rng(abs(power))
    for x in (random.random(40) * 10.0**power).tolist():
        exact = middle(x)
        scale = math.floor(math.log10(x)) - 17
        digits = int(exact / Fraction(10) ** scale)
        for k in range(-2, 3):
            check(f"{digits + k}e{scale}")


def test_python_is_asked_for_few_numbers():
    random = np.random.default_rng(0)
    texts = [repr(x) for x in random.standard_normal(3000).tolist()]
    texts += [f"{x:.18e}" for x in (10.0 ** random.uniform(-60, 60, 3000)).tolist()]
    texts += [f"{x:.16g}" for x in (10.0 ** random.uniform(-20, 20, 3000)).tolist()]
    assert sum(map(check, texts)) == 0
    assert check("1e-300")
    assert check("12345678901234567890")
    # As near to one float as to the other: who knows only 128 bits cannot tell.
    assert check("9007199254740993")


@given(st.text("0123456789+-.eE x", max_size=12))
def test_what_is_a_number_and_where_it_ends(text):
    number, end, _ = read(text)
    found = NUMBER.match(text)
    if found is None:
        assert end == -1
        return
    # An exponent without digits is a mistake; it is not that the number ends before it.
    if text[found.end() : found.end() + 1] in ("e", "E") and not re.search("[eE]", found.group()):
        assert end == -1
        return
    assert end == found.end()
    assert struct.pack("d", number) == struct.pack("d", float(found.group()))


@pytest.mark.parametrize("text", ["1e999", "-1e400", "1e99999999999999999999", "1" * 400])
def test_python_may_find_that_it_is_infinite(text):
    number, end, asked = read(text)
    assert (number, end, asked) == (float(text), len(text), True)
