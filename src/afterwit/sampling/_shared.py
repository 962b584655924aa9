"""What the theorems about samples share: the words for what they need, and the sample sizes that make them small."""

from __future__ import annotations

from afterwit.core.inputs import CHANCE
from afterwit.core.theorem import SAMPLE_SIZE, Theorem

BLUM = "Blum et al., Foundations of Data Science"
CONSISTENT = "the rule is right on the whole sample"
ALL_RULES = "it holds for all rules at once, also for one chosen by its error on the sample"


class SampleSize(Theorem):
    """How many examples make a bound small enough."""

    asks_for = SAMPLE_SIZE
    quantity = "n"
    sense = ">="
    rounding = "the smallest whole number"
    chance = CHANCE
