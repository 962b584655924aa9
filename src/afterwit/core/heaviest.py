"""The features that weigh most in what a learner has learned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: What learners call the one that they are made of.
INSIDE = ("standardized", "uncalibrated")


def heaviest_features(learner: Any) -> dict[str, list[tuple[Any, float]]]:
    """The features by the size of their weights, the heaviest first; the key says whose weights they are.

    Of a committee, those of the best member that has weights. Of many classes, those of each.
    """
    members = getattr(learner, "members", None)
    if isinstance(members, dict):
        counts = getattr(learner, "member_losses", None) or getattr(learner, "member_mistakes", {})
        for name in sorted(members, key=lambda name: counts.get(name, math.inf)):
            found = heaviest_features(members[name])
            if found:
                return {f"{name}, the best member that has weights{_of(key)}": pairs for key, pairs in found.items()}
        return {}
    try:
        weights = learner.weights
    except AttributeError:
        parts = getattr(learner, "learners", None)
        if isinstance(parts, dict):
            of_parts = {label: heaviest_features(part) for label, part in parts.items()}
            return {f"class {label}": each[""] for label, each in of_parts.items() if "" in each}
        inner = next((getattr(learner, name) for name in INSIDE if hasattr(learner, name)), None)
        return {} if inner is None else heaviest_features(inner)
    if isinstance(weights, dict) and any(isinstance(each, (dict, np.ndarray)) for each in weights.values()):
        return {f"class {label}": _sorted(each) for label, each in weights.items()}
    return {"": _sorted(weights)}


def _of(key: str) -> str:
    return f", {key}" if key else ""


def _sorted(weights: Any) -> list[tuple[Any, float]]:
    pairs = (
        list(weights.items())
        if isinstance(weights, dict)
        else list(enumerate(np.asarray(weights).reshape(-1).tolist()))
    )
    pairs = [(name, float(weight)) for name, weight in pairs if weight != 0 and math.isfinite(weight)]
    return sorted(pairs, key=lambda pair: -abs(pair[1]))
