"""What can be drawn: pictures and reports of it.

What draws is an outer room, `afterwit.pictures`, which is found by name when it is asked for: matplotlib is an extra.
"""

from __future__ import annotations

import importlib
from typing import Any


class Pictured:
    """Has pictures, and a report with all of them."""

    def plot(self, ax: Any = None, *, kind: str | None = None) -> Any:
        """Draw a picture with matplotlib; it is returned, with ``ax_`` and ``figure_`` as scikit-learn's displays have.

        ax    matplotlib's axes to draw on; without them there is a new figure
        kind  which picture: one of those in ``pictures()``, the first if nothing is said
        """
        return _room().picture(self, kind).plot(ax)

    def pictures(self) -> Any:
        """All pictures of it by their kinds."""
        return _room().pictures(self)

    def report(self, path: Any = None, *, certificate: Any = None) -> Any:
        """One page of HTML with the numbers and all pictures, which needs nothing else to be shown.

        path         where to write it; without one, the report that is returned can be saved later
        certificate  its certificate, where that is known already or, as for games, needs more than the thing has
        """
        return _room().report(self, path, certificate)


def _room() -> Any:
    return importlib.import_module("afterwit.pictures")
