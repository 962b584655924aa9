"""What the theorems about new data share: a probability, and the promise that the examples are independent draws."""

from __future__ import annotations

from typing import Any, ClassVar

from afterwit.core.certificate import Assumption, Basis, Certificate, Hindsight
from afterwit.core.theorem import Theorem
from afterwit.errors import invalid


class BatchTheorem(Theorem):
    """A bound on the error on new data, with probability 1 - delta over the examples."""

    quantity = "error"
    #: Every such theorem by the name of its class, for certificates that come from a file.
    known: ClassVar[dict[str, type[BatchTheorem]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        BatchTheorem.known[cls.__name__] = cls

    def __init__(self, delta: float | None = None, quantity: str = "") -> None:
        self.delta = delta
        self.quantity = quantity or type(self).quantity
        if delta is not None:
            self.chance = with_probability(delta)

    def certify(self, evidence: Any) -> Certificate:
        """The certificate for evidence that says subject, rounds, observed, bound, inputs and assumptions."""
        return Certificate(
            theorem=self,
            subject=evidence["subject"],
            rounds=evidence["rounds"],
            observed=evidence["observed"],
            bound=evidence["bound"],
            assumptions=(*evidence.get("assumptions", ()), independent()),
            inputs=evidence.get("inputs", {}),
        )


def with_probability(delta: float) -> str:
    """How far a bound that fails with probability delta is a matter of chance."""
    return f"with probability {100 * (1 - delta):.10g}%"


def independent() -> Assumption:
    """What every promise about new data rests on, and nobody can see from the data."""
    return Assumption("the examples, and new ones, are independent draws from one distribution", Basis.PROMISED, None)


def as_data(certificate: Certificate) -> dict[str, Any]:
    """A certificate as plain values, for a model file."""
    theorem = certificate.theorem
    if not isinstance(theorem, BatchTheorem):
        raise invalid("certificate", "one of afterwit.batch, to be saved", theorem)
    return {
        "theorem": type(theorem).__name__,
        "delta": theorem.delta,
        "quantity": theorem.quantity,
        "subject": certificate.subject,
        "rounds": certificate.rounds,
        "observed": certificate.observed,
        "bound": certificate.bound,
        "assumptions": [(a.statement, a.basis.name, a.holds, a.detail) for a in certificate.assumptions],
        "hindsight": None
        if certificate.hindsight is None
        else (certificate.hindsight.value, certificate.hindsight.description, certificate.hindsight.quantity),
        "inputs": dict(certificate.inputs),
        "others": [as_data(other) for other in certificate.others],
    }


def from_data(data: Any) -> Certificate:
    """The certificate whose ``as_data`` this was."""
    kind = BatchTheorem.known[data["theorem"]]
    return Certificate(
        theorem=kind(data["delta"], data["quantity"]),
        subject=data["subject"],
        rounds=data["rounds"],
        observed=data["observed"],
        bound=data["bound"],
        assumptions=tuple(
            Assumption(statement, Basis[basis], holds, detail)
            for statement, basis, holds, detail in data["assumptions"]
        ),
        hindsight=None if data["hindsight"] is None else Hindsight(*data["hindsight"]),
        inputs=data["inputs"],
        others=tuple(from_data(other) for other in data["others"]),
    )
