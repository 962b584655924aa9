"""What the batch learners of readable rules share, and the theorems on their error."""

from __future__ import annotations

from typing import Any

from afterwit.core.certificate import Assumption, Basis, Certificate, certify
from afterwit.core.learner import Storable
from afterwit.core.theorem import Theorem
from afterwit.data.quantities import PROBABILITY
from afterwit.errors import InputError, counted, invalid
from afterwit.sampling.occam import description_error, occam_error
from afterwit.sampling.uniform import regularised_deviation


class ErrorBound(Theorem):
    """A bound on the error on new data that may fail with probability delta."""

    quantity = "error"

    def __init__(self, delta: Any = 0.05) -> None:
        self.delta = float(PROBABILITY.check("delta", delta))
        self.chance = f"with probability {100 * (1 - self.delta):.10g}%"

    def certify(self, evidence: Any) -> Any:
        bound, inputs = self.applied(evidence)
        inputs |= {"n": evidence.rounds, "delta": evidence.delta_each}
        if evidence.delta_each != evidence.delta:
            inputs["delta of all bounds together"] = evidence.delta
        return evidence.certificate(type(self)(evidence.delta), bound, inputs, *self.needed(evidence))

    def applied(self, evidence: Any) -> tuple[float, dict[str, Any]]:
        """The bound, and the numbers in it."""
        raise NotImplementedError

    def needed(self, evidence: Any) -> tuple[Assumption, ...]:
        """What this theorem needs besides what every one needs."""
        del evidence
        return ()


class FiniteClassBound(ErrorBound):
    """A rule of a finite class that is right on the whole sample."""

    name = "Occam bound of a finite class"
    statement = "error < (ln|H| + ln(1/delta)) / n for every rule of the class that is right on all n rows"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.4; for disjunctions 6.2 and 6.3"

    def applied(self, evidence: Any) -> tuple[float, dict[str, Any]]:
        bound = occam_error(evidence.rounds, evidence.delta_each, log_hypotheses=evidence.log_hypotheses)
        return bound, {"ln|H|": evidence.log_hypotheses}

    def needed(self, evidence: Any) -> tuple[Assumption, ...]:
        return (right_on_all(evidence),)


class DescriptionBound(ErrorBound):
    """A rule that is right on the whole sample, by its size in a prefix-free language."""

    name = "Occam's razor"
    statement = "error <= (size ln 2 + ln(1/delta)) / n for every rule that is right on all n rows"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.5, in a prefix-free language"

    def applied(self, evidence: Any) -> tuple[float, dict[str, Any]]:
        return description_error(evidence.rounds, evidence.bits, evidence.delta_each), {"size": evidence.bits}

    def needed(self, evidence: Any) -> tuple[Assumption, ...]:
        return (right_on_all(evidence),)


class RegularisedBound(ErrorBound):
    """Any rule, by its error on the sample and its size."""

    name = "error on the sample, and size"
    statement = "error <= error on the sample + sqrt((size ln 4 + ln(2/delta)) / (2n))"
    citation = "Blum et al., Foundations of Data Science, Corollary 6.8"

    def applied(self, evidence: Any) -> tuple[float, dict[str, Any]]:
        more = regularised_deviation(evidence.rounds, evidence.bits, evidence.delta_each)
        return evidence.observed(self) + more, {"size": evidence.bits}


def right_on_all(evidence: Any) -> Assumption:
    """Whether the rule makes no mistake on the sample, as the checker counted."""
    detail = (
        "" if not evidence.mistakes else evidence.why_not or f"{counted(evidence.mistakes, 'mistake')} on the sample"
    )
    return Assumption("the rule is right on the whole sample", Basis.OBSERVED, not evidence.mistakes, detail)


class BatchRule(Storable):
    """A rule made from a whole sample at once. Copies, pickles, compares and saves as every learner does."""

    role = "batch"
    checker = "rules"
    _rounds = 0
    _mistakes = 0

    @property
    def rounds(self) -> int:
        """How many examples it was fitted to; 0 before."""
        return self._rounds

    @property
    def mistakes(self) -> int:
        """How many of them the rule gets wrong."""
        return self._mistakes

    @property
    def consistent(self) -> bool:
        """Whether the rule is right on the whole sample it was fitted to."""
        self._require_fitted()
        return self._mistakes == 0

    def certificate(self, X: Any, y: Any, delta: Any = 0.05) -> Certificate:
        """The bounds on the error on new data, judged on the rows X, y; with probability 1 - delta all of them hold.

        Of several the tightest is shown first. That one is chosen by a look at the sample, so each has its share of
        delta.
        """
        self._require_fitted()
        return certify(self, X, y, delta=float(PROBABILITY.check("delta", delta)))

    def _require_fitted(self) -> None:
        if self._rounds == 0:
            raise InputError(f"{type(self).__name__} has not been fitted yet: call fit(X, y) first")

    def _state(self) -> dict[str, Any]:
        return {"rounds": self._rounds, "mistakes": self._mistakes}

    def _check_state(self, state: Any) -> None:
        counts = [state["rounds"], state["mistakes"]]
        if any(type(count) is not int or not 0 <= count <= counts[0] < 2**62 for count in counts):
            raise invalid("rounds and mistakes", "counts, none above rounds", counts)

    def _become(self, state: Any) -> None:
        self._rounds, self._mistakes = state["rounds"], state["mistakes"]

    def _progress(self) -> str:
        return (
            f"{counted(self._rounds, 'example')}, {counted(self._mistakes, 'mistake')}"
            if self._rounds
            else "not fitted"
        )
