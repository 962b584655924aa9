"""The numbers of a certificate in the unit of a learning curve: mistakes per round, or the root mean squared error."""

from __future__ import annotations

import math

from afterwit.core.certificate import Certificate, Verdict, whole_part


def about_errors(made: Certificate, regression: bool) -> Certificate | None:
    """The certificate, of this and those beside it, that is about mistakes, or about squared errors, if one applies."""
    wanted = "loss" if regression else "mistakes"
    for each in (made, *made.others):
        fits = each.quantity == wanted and each.subject == made.subject and (each.quantity != "loss" or each.squares)
        if fits and each.verdict is not Verdict.NOT_APPLICABLE:
            return each
    return None


def rate(made: Certificate, total: float) -> float:
    """A total of the certificate's quantity for each round; of squared errors, the root of it."""
    mean = total / max(1, made.rounds)
    return math.sqrt(max(0.0, mean)) if made.quantity == "loss" else mean


def bound_rate(made: Certificate) -> float | None:
    """The bound, if there is one; of a count, its whole part."""
    return None if made.bound is None else rate(made, whole_part(made))


def hindsight_rate(made: Certificate) -> float | None:
    """What hindsight would have given, if it was found in the same quantity."""
    found = made.hindsight
    return rate(made, found.value) if found is not None and found.quantity in ("", made.quantity) else None
