"""Controlled testing: test each hypothesis on examples of its own, and learn one that it gets wrong.

Setting     examples drawn independently from one distribution; h_0 is where the learner begins.
Procedure   test h_i on a fresh block of (1/epsilon) ln(1/delta_i) examples, delta_i = delta / (i + 2)^2. If it is
            right on all of them, stop. If not, give the learner the first that it got wrong, which makes h_{i+1}; the
            rest of the block is not used again.
Guarantee   with probability at least 1 - delta the hypothesis on which it stops has an error of at most epsilon on new
            data. A learner with mistake bound M is tested M + 1 times at most: (M + 1)((1/epsilon) ln((M + 2)^2 /
            delta) + 1) examples are enough. No learner changes during a test, conservative or not.
Memory      one hypothesis, and one block of a stream of any length.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 5.9, procedure 2.

>>> from afterwit import SGD, adversaries
>>> stream = adversaries.separable(20_000, 5, margin=0.2, seed=0)
>>> print(controlled_testing(SGD(), stream, epsilon=0.05).certificate.line())
controlled testing: error at most 0.05, with probability 95% (holds; Blum et al., Foundations of Data Science, section
5.9)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.batch._rounds import Block, Source, fresh_copy
from afterwit.batch._theorem import BatchEvidence, BatchTheorem
from afterwit.batch.frozen import FrozenPredictor
from afterwit.batch.large_gap import RightInARow
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.inputs import CHANCE, DELTA, ERROR_RATE, IID
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import share
from afterwit.data.quantities import COUNT_OR_NONE
from afterwit.errors import counted
from afterwit.sampling._shared import BLUM

#: So much of a test is held in memory at once.
PORTION = 8192


class ControlledTesting(BatchTheorem):
    """A hypothesis that passed a test of its own is rarely wrong."""

    name = "controlled testing"
    formula = "epsilon after a test on (1/epsilon) ln((i + 2)^2 / delta) fresh examples without a mistake"
    citation = f"{BLUM}, section 5.9"
    beforehand = True

    def certify(self, evidence: Any) -> Certificate:
        inputs = {
            "epsilon": evidence.epsilon,
            "i": evidence.failed,
            "delta": evidence.delta,
            "observed": "in the last test",
        }
        return self.applied(evidence, evidence.epsilon, inputs)


class FreshExamples(Theorem):
    """How many fresh examples test a hypothesis."""

    id = "controlled-testing"
    name = ControlledTesting.name
    quantity = "fresh examples"
    formula = "ceil(ln(({hypothesis} + 2)^2 / {delta}) / {error})"
    inputs = (
        Input("hypothesis", "i", "how many hypotheses failed their test before this one", COUNT_OR_NONE),
        ERROR_RATE,
        DELTA,
    )
    needs = f"{IID} and the hypothesis is right on all of them; the error is then at most eps, {CHANCE}"
    citation = ControlledTesting.citation
    sense = ">="

    @staticmethod
    def bound(hypothesis: Any, error: Any, delta: Any) -> Any:
        return RightInARow.bound(hypothesis, error, delta)


@dataclass(frozen=True, kw_only=True)
class LastTestEvidence(BatchEvidence):
    """The last test, and how many failed before it."""

    delta: float
    epsilon: float
    failed: int


def controlled_testing(learner: Any, X: Any, y: Any = None, *, epsilon: Any, delta: Any = 0.05) -> FrozenPredictor:
    """The hypothesis that passes its test. If the examples end first, the last one, without a bound.

    learner  where to begin; it is copied, and never changed
    X, y     examples and labels, or a stream in place of both; a stream is read no further than needed
    epsilon  the error to reach
    delta    how likely the bound may fail
    """
    delta, epsilon = share("delta", delta), share("epsilon", epsilon)
    working = fresh_copy(learner, X, y)
    tests = used = 0
    wrong = 0
    with Source(learner, X, y) as source:
        while True:
            needed = FreshExamples.bound(tests, epsilon, delta)
            seen, wrong = 0, 0
            to_learn: tuple[Block, int] | None = None
            while seen < needed and (block := source.take(min(PORTION, needed - seen))) is not None:
                seen += block.count
                # What comes after the first mistake is drawn, and left alone.
                if to_learn is None:
                    flags = block.mistakes_of(working)
                    if flags.any():
                        to_learn = block, int(np.argmax(flags))
                        wrong = 1
            used += seen
            if to_learn is None or seen < needed:
                break
            to_learn[0].learn_one(working, to_learn[1])
            tests += 1
    passed = seen == needed and wrong == 0
    detail = f"test {tests + 1}, {counted(needed, 'example')}" if passed else ""
    if not passed:
        detail = f"the examples ended in test {tests + 1}, which needs {needed:,}; {seen:,} were left"
    evidence = LastTestEvidence(
        subject=type(learner).__name__,
        rounds=used,
        happened=0.0 if passed or not seen else wrong / seen,
        assumptions=(
            Assumption("the hypothesis passed a test of its own", Basis.OBSERVED, passed, detail),
            Assumption("each test has examples that nothing was learned from", Basis.ENFORCED, True),
        ),
        delta=delta,
        epsilon=epsilon,
        failed=tests,
    )
    return FrozenPredictor(working, "controlled_testing", ControlledTesting(delta).certify(evidence))
