"""Pictures and reports: the promise beside what happened, over time.

``thing.plot()`` draws with matplotlib, which the extra ``afterwit[plot]`` installs; ``thing.report("out.html")`` writes
a page with all pictures of a thing. Both are methods of records, certificates and solutions, and find this package by
its name: nothing inside imports it.

>>> import afterwit as aw
>>> record = aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(8))
>>> list(pictures(record))
['error', 'confidence', 'features']
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from afterwit.errors import invalid
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures.comparison import Comparison

#: The class of a thing -> the module here that has its pictures.
HOMES = {
    "Certificate": "certificates",
    "GroupCertificates": "certificates",
    "Race": "races",
    "FiniteClass": "concepts",
    "BoostingRecord": "boosting",
    "GameSolution": "games",
    "Record": "records",
    "RegressionRecord": "records",
    "ExpertRecord": "experts",
}


def pictures(thing: Any) -> Mapping[str, Picture]:
    """All pictures of a thing by their kinds, the most telling first."""
    for kind in type(thing).__mro__:
        if kind.__name__ in HOMES and kind.__module__.startswith("afterwit."):
            home = importlib.import_module(f"afterwit.pictures.{HOMES[kind.__name__]}")
            return {picture.kind: picture for picture in home.pictures(thing)}
    raise invalid("thing", f"a {', '.join(HOMES)}", thing)


def picture(thing: Any, kind: str | None = None) -> Picture:
    """The picture of that kind, or the first one."""
    known = pictures(thing)
    if kind is None:
        return next(iter(known.values()))
    if kind not in known:
        raise invalid("kind", f"one of {', '.join(map(repr, known))}", kind)
    return known[kind]


def report(thing: Any, path: Any = None, certificate: Any = None) -> Any:
    """One page with the numbers, the certificate and all pictures of a thing.

    certificate  that of the thing, where it is known already or needs more than the thing has
    """
    # What makes pages is as large as what draws, and is not needed to draw.
    from afterwit.pictures._report import report as made

    return made(thing, path, certificate)


__all__ = ["Comparison", "Picture", "Table", "picture", "pictures", "report"]
