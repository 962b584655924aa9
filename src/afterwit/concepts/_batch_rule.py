"""What the batch learners of readable rules share, and the theorems on their error."""

from __future__ import annotations

from typing import Any

from afterwit.sampling.occam import description_error, occam_error
from afterwit.sampling.uniform import regularised_deviation
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.learner import Storable
from afterwit.core.theorem import Theorem
from afterwit.data.quantities import PROBABILITY
from afterwit.errors import InputError, shorten


class ErrorBound(Theorem):
    """A bound on the error on new data that may fail with probability delta."""

    quantity = "error"

    def __init__(self, delta: Any = 0.05) -> None:
        self.delta = float(PROBABILITY.check("delta", delta))
        self.chance = f"with probability {100 * (1 - self.delta):.10g}%"

    def certify(self, evidence: Any) -> Certificate:
        """``evidence`` is a `Sample`: what a checker found on the rows."""
        bound, inputs = self.applied(evidence)
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=evidence.rows,
            observed=evidence.mistakes / evidence.rows,
            bound=bound,
            assumptions=(drawn(), *self.needed(evidence), *evidence.assumptions),
            inputs={**inputs, "n": evidence.rows, "delta": self.delta},
        )

    def applied(self, evidence: Any) -> tuple[float | None, dict[str, Any]]:
        """The bound, and the numbers in it."""
        raise NotImplementedError

    def needed(self, evidence: Any) -> tuple[Assumption, ...]:
        """What this theorem asks for besides a sample that was drawn independently."""
        del evidence
        return ()


class FiniteClassBound(ErrorBound):
    """A rule of a finite class that is right on the whole sample."""

    name = "Occam bound of a finite class"
    statement = "error < (ln|H| + ln(1/delta)) / n for every rule of the class that is right on all n rows"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.4; for disjunctions 6.2 and 6.3"

    def applied(self, evidence: Any) -> tuple[float | None, dict[str, Any]]:
        bound = occam_error(evidence.rows, self.delta, log_hypotheses=evidence.log_hypotheses)
        return (None if evidence.mistakes else bound), {"ln|H|": evidence.log_hypotheses}

    def needed(self, evidence: Any) -> tuple[Assumption, ...]:
        return (right_on_all(evidence),)


class DescriptionBound(ErrorBound):
    """A rule that is right on the whole sample, by its size in a prefix-free language."""

    name = "Occam's razor"
    statement = "error <= (size ln 2 + ln(1/delta)) / n for every rule that is right on all n rows"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.5, in a prefix-free language"

    def applied(self, evidence: Any) -> tuple[float | None, dict[str, Any]]:
        bound = description_error(evidence.rows, evidence.bits, self.delta)
        return (None if evidence.mistakes else bound), {"size": evidence.bits}

    def needed(self, evidence: Any) -> tuple[Assumption, ...]:
        return (right_on_all(evidence),)


class RegularisedBound(ErrorBound):
    """Any rule, by its error on the sample and its size."""

    name = "error on the sample, and size"
    statement = "error <= error on the sample + sqrt((size ln 4 + ln(2/delta)) / (2n))"
    citation = "Blum et al., Foundations of Data Science, Corollary 6.8"

    def applied(self, evidence: Any) -> tuple[float | None, dict[str, Any]]:
        more = regularised_deviation(evidence.rows, evidence.bits, self.delta)
        return evidence.mistakes / evidence.rows + more, {"size": evidence.bits}


def drawn() -> Assumption:
    return Assumption("the rows are independent draws from one distribution", Basis.PROMISED, None)


def right_on_all(evidence: Any) -> Assumption:
    """Whether the rule makes no mistake on the sample, as the checker counted."""
    detail = "" if not evidence.mistakes else evidence.why_not or f"{evidence.mistakes:,} mistakes on the sample"
    return Assumption("the rule is right on the whole sample", Basis.OBSERVED, not evidence.mistakes, detail)


class BatchRule(Storable):
    """A rule made from a whole sample at once. Copies, pickles, compares and saves as every learner does."""

    role = "batch"
    theorems: tuple[Theorem, ...] = ()
    no_theorem_because = ""
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

    def _require_fitted(self) -> None:
        if self._rounds == 0:
            raise InputError(f"{type(self).__name__} has not been fitted yet: call fit(X, y) first")

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={shorten(value, 40)}"
            for name, value in self.parameters.items()
            if value is not None and value is not False
        )
        fitted = f"{self._rounds:,} examples, {self._mistakes:,} mistakes" if self._rounds else "not fitted"
        return f"{type(self).__name__}({given}): {fitted}"
