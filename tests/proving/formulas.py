"""Closed formulas, each compared with the oracle's in passing."""

import math

from afterwit import bounds
from naive_bounds import BOUNDS
from proving.judging import key_of


def value_of(table, theorem, **inputs):
    """The value of a formula by its id; the oracle's has to be the same."""
    value = float(bounds.bound(theorem, **inputs))
    seen = {}
    for name, given in inputs.items():
        # The oracles take logarithms where a number may be given instead.
        by_logarithm = name in ("experts", "assets") and f"log_{name}" in BOUNDS[theorem].__code__.co_varnames
        if name == "hypotheses" or by_logarithm:
            seen[f"log_{name}"] = math.log(given)
        else:
            seen[name] = given
    wanted = float(BOUNDS[theorem](**seen))
    key = key_of(type(bounds.find(theorem)))
    table.stated(key, "its formula", value, wanted)
    return value
