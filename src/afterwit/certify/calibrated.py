"""Certifying probabilities by Platt scaling: the theorems of its learner, on the scores of the learner inside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.replay import other_count, same_rounds
from afterwit.core.certificate import evidence_of
from afterwit.data.labels import Signs
from afterwit.data.values import same_value
from afterwit.reductions.calibrated import as_rows

SAME_SCORES = "the scores are those of the learner inside, on X, y in order"


def gather(learner: Any, rows: Any, signs: Signs) -> Any:
    """The evidence of the scaling, on scores that a fresh learner makes again; in each pass these are others."""
    inside = learner.uncalibrated
    scores: list[npt.NDArray[np.float64]] = []

    def differs(passes: int) -> str:
        alike = type(inside)(**inside.parameters)
        scores.extend(alike._learn(rows, signs) for _ in range(passes))
        counts = other_count("mistakes of the learner inside", inside.mistakes, alike.mistakes)
        return counts or ("" if same_value(alike.state(), inside.state()) else "these rows make another learner")

    played, _ = same_rounds(learner, rows.count, differs)
    evidence = evidence_of(learner.scaling, as_rows(np.concatenate([[], *scores])), np.tile(signs, len(scores)))
    same = replace(played, statement=SAME_SCORES)
    subject = f"Calibrated of {type(inside).__name__}"
    return replace(evidence, subject=subject, fixed="scaling of the scores", assumptions=(*evidence.assumptions, same))
