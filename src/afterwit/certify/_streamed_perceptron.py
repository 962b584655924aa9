"""The evidence of perceptrons from a stream that is read again, k + 4 times for k passes of learning.

The passes: what there is, and a sample; the comparators, judged on all rows; the scales at which the bounds are
smallest; the run, played again and multiplied out (k times); and what the learner ended with. Comparators are what
solvers find in the sample, and the learner's own last weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._streamed_linear import Judge, Search, StreamedEvidence, judged_at_last
from afterwit.certify.perceptron import Rule, comparators_for, starts_at_zero
from afterwit.certify.replay import comparator_for, on_part, own_weights, same_rounds
from afterwit.certify.streamed import Passes, PlayedBlock, replayed
from afterwit.core.certificate import Assumption
from afterwit.hindsight.comparator import normalised, row_norms, unit_for

Floats = npt.NDArray[np.float64]

OWN = "its own last weights"


def gather(learner: Any, stream: Any, comparator: Any = None) -> StreamedEvidence:
    """What is known of the rounds of a stream, which a perceptron learned."""
    passes = Passes(learner, stream)
    passes.unit = unit_for(passes.largest)
    margin = float(learner.parameters.get("margin", 0.0))
    rule = Rule(passes.width, margin / 2 / passes.unit, passes.unit)
    rate = float(learner.parameters.get("rate", 1.0))
    moments = np.zeros(passes.width)

    def follow(block: PlayedBlock) -> None:
        nonlocal moments
        at = np.flatnonzero(block.updated)
        rule.follow(block.matrix, block.y, at, block.first)
        if len(at):
            rounds = block.passes_before * passes.count + block.first + at + 1
            moments += block.matrix[at].T @ (block.y[at] * rounds)

    def own() -> dict[str, Floats]:
        """What its updates add up to, and the average of that over the rounds."""
        added = rate * rule.weights
        if learner.parameters.get("start") is not None:
            added = passes.narrowed(own_weights(learner, passes.columns.header))
        average = added - rate * moments / max(1, learner.rounds)
        return {"its last weights": added, "the average of its weights": average}

    return streamed_evidence(
        learner,
        passes,
        comparator,
        follow,
        lambda: (starts_at_zero(learner), rule.followed),
        own,
        StreamedEvidence,
        margin=margin,
    )


def streamed_evidence(
    learner: Any,
    passes: Passes,
    comparator: Any,
    follow: Callable[[PlayedBlock], None],
    assumed: Callable[[], tuple[Assumption, ...]],
    own: Callable[[], dict[str, Floats]],
    kind: type[StreamedEvidence],
    **more: Any,
) -> StreamedEvidence:
    """The evidence of a learner with hinge bounds.

    ``follow`` multiplies out the rounds of a block; ``assumed`` says what came of it, and ``own`` what the learner went
    through. ``more`` is what its kind of evidence has further.
    """
    header = passes.columns.header
    given = comparator_for(learner, header, comparator)
    # Its length is of no matter: every scale is tried.
    ended, _ = normalised(passes.narrowed(own_weights(learner, header)))
    counts = same_rounds(learner, passes.count, lambda _: "")
    search = Search(passes, learner.theorems, counts[1], [Judge("zero", np.zeros(passes.width), 0.0)])
    facts = {
        "subject": type(learner).__name__,
        "rounds": learner.rounds,
        "mistakes": learner.mistakes,
        "counted_updates": learner.updates,
        "unit": passes.unit,
        "one_row_in": passes.step,
        **more,
    }

    def make(found: Search, **known: Any) -> StreamedEvidence:
        assumptions = known.pop("assumptions", (counts[0],))
        numbers = {"passes": found.times, "radius": found.radius, "comparators": found.comparators}
        return kind(**{**facts, **numbers, **known, "assumptions": assumptions})

    typical = [0.0]
    if counts[0].holds:
        sought, sizes = _sought(passes, given, counts[1])
        if given is None and np.isfinite(np.linalg.norm(ended)) and ended.any():
            sought.append(Judge(OWN, ended, float(np.linalg.norm(ended))))
            sizes.append(_typical(passes.sample()[0], ended))
        search.judges += sought
        typical += sizes
    search.run(typical, lambda matrix: float(row_norms(matrix).max(initial=0.0)), make)
    if not counts[0].holds:
        # Nothing was played, so that nothing was updated.
        return make(search, points=(search.at_zero(),), converged=True)
    updates = 0

    def visit(block: PlayedBlock) -> None:
        nonlocal updates
        updates += int(np.count_nonzero(block.updated))
        search.sum_up(block)
        follow(block)

    same, _, at_rest = replayed(learner, passes, visit)
    if not same.holds:
        zero = {"points": (search.at_zero(),), "comparators": search.comparators[:1]}
        return make(search, **zero, converged=at_rest, assumptions=(same,))
    return make(
        search,
        points=search.points(),
        counted_update_rounds=updates,
        converged=at_rest,
        assumptions=(same, *assumed()),
        own=judged_at_last(passes, {OWN: ended, **own()}),
    )


def _sought(passes: Passes, given: Floats | None, times: int) -> tuple[list[Judge], list[float]]:
    """Comparators that are the given one, or come from the sample, and about the sizes of their margins."""
    matrix, signs = passes.sample()
    vector = None if given is None else passes.unit * passes.narrowed(given)
    found = comparators_for(matrix, signs, times * passes.step, passes.unit, vector)
    part = "" if given is not None else on_part(passes.step)
    judges = [Judge(each.source + part, each.vector, each.norm) for each in found]
    return judges, [_typical(matrix, each.vector) for each in found]


def _typical(matrix: Any, vector: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.abs(matrix @ vector).mean())
    return size if np.isfinite(size) else 0.0
