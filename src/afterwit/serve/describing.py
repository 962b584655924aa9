"""What is said of a model: in a list, in full, and its curve."""

from __future__ import annotations

from typing import Any

from afterwit.serve.hosted import Hosted
from afterwit.serve.progress import LATELY, Progress
from afterwit.serve.spec import described as described_model


def in_short(hosted: Hosted) -> dict[str, Any]:
    """A model in a list of models."""
    about = described_model(hosted.model)
    return {
        "model": hosted.name,
        "learner": about["learner"],
        "role": about["role"],
        "frozen": hosted.frozen,
        "events": hosted.n,
        **hosted.progress.totals(),
    }


def described(hosted: Hosted) -> dict[str, Any]:
    """All that is known of a model in memory."""
    found = {
        "model": hosted.name,
        **described_model(hosted.model),
        "frozen": hosted.frozen,
        "created": hosted.created,
        "events": hosted.n,
        "learned": hosted.learner.rounds,
        "late": getattr(hosted.learner, "late", "arrival"),
        "totals": hosted.progress.totals(),
        "delays": hosted.progress.delays(),
    }
    weights = _weights(hosted)
    if weights:
        found |= {"leader": weights[0][0], "weights": weights}
    return found


def _weights(hosted: Hosted) -> list[list[Any]]:
    """What the members of a committee or the experts weigh, the heaviest first."""
    learner = hosted.learner
    if hosted.role == "experts" and hasattr(learner, "weights") and learner.rounds:
        pairs = list(zip(map(str, learner.experts), map(float, learner.weights), strict=True))
    elif hasattr(type(learner), "members"):
        pairs = [(str(name), float(weight)) for name, weight in learner.weights.items()]
    else:
        return []
    return [list(pair) for pair in sorted(pairs, key=lambda pair: -pair[1])]


def curve(progress: Progress) -> dict[str, Any]:
    """The error, or the mean loss, since the start and lately, after so many rounds.

    Lately is about as many rounds as in the totals, or about one piece of the curve where that is longer.
    """
    points = [(0, 0.0), *progress.curve.points()]
    rounds: list[int] = []
    error: list[float] = []
    lately: list[float | None] = []
    since = 0
    for place, (end, total) in enumerate(points[1:]):
        while since < place and points[since + 1][0] <= end - LATELY:
            since += 1
        begin, before = points[since]
        rounds.append(end)
        error.append(total / end)
        lately.append((total - before) / (end - begin))
    if lately:
        lately[-1] = progress.lately
    return {"rounds": rounds, "error": error, "lately": lately}
