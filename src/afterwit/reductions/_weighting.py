"""What gives the members of a committee their weights: a mixture of their probabilities, or an expert algorithm.

An expert algorithm sees mistakes alone; then the members vote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from afterwit.core.theorem import Theorem
from afterwit.errors import Words, counted, invalid
from afterwit.experts._engine import ExpertLearner
from afterwit.experts.adahedge import AdaHedge
from afterwit.experts.boa import BOA
from afterwit.experts.fixed_share import FixedShare
from afterwit.experts.mlpol import MLpol
from afterwit.reductions._binary import blank
from afterwit.reductions._mixture import Mixture

#: The weighting by which probabilities are mixed.
MIXTURE = "mixture"
#: The algorithms that need no options; and fixed share, with options for members of which the best may change.
NAMED: dict[str, Callable[..., ExpertLearner]] = {
    "fixed-share": partial(FixedShare, share=1e-3, rate=0.5),
    "adahedge": AdaHedge,
    "boa": BOA,
    "mlpol": MLpol,
}
ALLOWED = f"one of {MIXTURE}, {', '.join(NAMED)}, or a fresh expert algorithm for as many experts as there are members"


def read_weighting(weighting: Any, members: Sequence[str]) -> Any:
    """A fresh mixture or expert algorithm for these members."""
    if isinstance(weighting, str) and weighting == MIXTURE:
        return Mixture(len(members))
    if isinstance(weighting, str) and weighting in NAMED:
        return NAMED[weighting](list(members), loss="zero-one")
    if not isinstance(weighting, ExpertLearner):
        raise invalid("weighting", ALLOWED, weighting)
    if not weighting.takes_losses:
        raise invalid("weighting", "an expert algorithm that learns from losses alone", weighting)
    theorems: Sequence[Theorem] = weighting.theorems
    if any(theorem.chance for theorem in theorems):
        raise invalid("weighting", "an expert algorithm that sees the losses of all experts", weighting)
    if weighting.rounds:
        raise invalid("weighting", ALLOWED, Words(f"one that has learned {counted(weighting.rounds, 'round')}"))
    experts = weighting.experts
    if len(experts) != len(members) or experts not in (tuple(members), tuple(range(len(members)))):
        raise invalid("weighting", f"for the {len(members)} members", Words(f"one for {experts}"))
    # With the gradient trick the algorithm sees differences of losses.
    needed = -1.0 if weighting.parameters.get("gradient") else 0.0
    least, greatest = weighting._range or (needed, 1.0)
    if least > needed or greatest < 1:
        raise invalid("weighting", "for losses of 0 and 1", Words(f"one for losses in {weighting._range}"))
    return blank(weighting)
