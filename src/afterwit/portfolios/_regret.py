"""What the theorems about portfolios share."""

from __future__ import annotations

from afterwit.core.theorem import Theorem


class PortfolioTheorem(Theorem):
    """A bound on the log wealth of a comparator less that of the learner, before costs."""

    quantity = "regret"
    needs = "price relatives are positive"
