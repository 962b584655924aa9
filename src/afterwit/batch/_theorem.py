"""What the theorems about new data share: a probability, and the promise that the examples are independent draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Evidence, Hindsight
from afterwit.core.declared import is_finite
from afterwit.core.theorem import Theorem
from afterwit.errors import invalid

Inputs = Mapping[str, float | str]


class BatchTheorem(Theorem):
    """A bound on the error on new data, with probability 1 - delta over the examples."""

    quantity = "error"
    #: What the quantity can be at most: a number, or the input of a certificate that says so.
    largest: ClassVar[float | str] = 1.0
    #: Every such theorem by the name of its class, for certificates that come from a file.
    by_class_name: ClassVar[dict[str, type[BatchTheorem]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        BatchTheorem.by_class_name[cls.__name__] = cls

    def __init__(self, delta: float | None = None, quantity: str = "") -> None:
        self.delta = delta
        self.quantity = quantity or type(self).quantity
        if delta is not None:
            self.chance = with_probability(delta)

    def applied(
        self, evidence: Any, bound: Any, inputs: Inputs, *extra: Assumption, observed: float | None = None
    ) -> Certificate:
        """The certificate for a bound, which also needs that new examples are like those seen."""
        value = None if bound is None else float(bound)
        made: Certificate = evidence.certificate(self, value, inputs, *extra, independent(), observed=observed)
        return made

    def ceiling(self, inputs: Inputs) -> Ceiling | None:
        """What the quantity can be at most, as far as it is known."""
        most = inputs.get(self.largest) if isinstance(self.largest, str) else self.largest
        if not isinstance(most, int | float):
            return None
        return Ceiling(most, f"no {'error' if self.quantity == 'error' else 'loss'} is above {most:g}")


@dataclass(frozen=True, kw_only=True)
class BatchEvidence(Evidence):
    """What a procedure saw of the examples it was given."""

    #: What happened on average in a round.
    happened: float

    def observed(self, theorem: Theorem) -> float:
        del theorem
        return self.happened

    def certificate(self, theorem: Theorem, bound: float | None, inputs: Inputs, *extra: Any, **more: Any) -> Any:
        """The theorem applied. What was asked for is shown also where nothing can be said about it."""
        assert isinstance(theorem, BatchTheorem)
        made = super().certificate(theorem, bound, inputs, *extra, **more)
        return replace(made, inputs=inputs, ceiling=theorem.ceiling(inputs))


def with_probability(delta: float) -> str:
    """How far a bound that fails with probability delta is a matter of chance."""
    return f"with probability {100 * (1 - delta):.10g}%"


def independent() -> Assumption:
    """What every promise about new data rests on, and nobody can see from the data."""
    statement = "the examples, none of them known to the learner before, and new ones are independent draws"
    return Assumption(f"{statement} from one distribution", Basis.PROMISED, None)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and is_finite(value)


def _is_assumption(value: Any) -> bool:
    if not isinstance(value, tuple) or len(value) != 4:
        return False
    statement, basis, holds, detail = value
    known = isinstance(basis, str) and basis in Basis.__members__
    return (
        known and isinstance(statement, str) and isinstance(detail, str) and (holds is None or holds in (True, False))
    )


def _are_inputs(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(name, str) and (isinstance(each, str) or _is_number(each)) for name, each in value.items())


def _is_hindsight(value: Any) -> bool:
    if not isinstance(value, tuple) or len(value) != 3:
        return value is None
    return _is_number(value[0]) and isinstance(value[1], str) and isinstance(value[2], str)


#: What the data of a certificate consist of: what is allowed, in words and as a test.
PARTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "theorem": ("the name of a theorem", lambda value: isinstance(value, str) and value in BatchTheorem.by_class_name),
    "delta": ("None or above 0 and below 1", lambda value: value is None or (_is_number(value) and 0 < value < 1)),
    "quantity": ("a string", lambda value: isinstance(value, str)),
    "subject": ("a string", lambda value: isinstance(value, str)),
    "rounds": ("a whole number, at least 0", lambda value: type(value) is int and value >= 0),
    "observed": ("a finite number", _is_number),
    "bound": ("None or a finite number", lambda value: value is None or _is_number(value)),
    "assumptions": ("a list of assumptions", lambda value: isinstance(value, list) and all(map(_is_assumption, value))),
    "hindsight": ("None, or a number with its description and its quantity", _is_hindsight),
    "inputs": ("numbers and words by name", _are_inputs),
    "others": ("a list of certificates", lambda value: isinstance(value, list)),
}


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
    """The certificate whose ``as_data`` this was; everything is checked, because it may come from a file."""
    if not isinstance(data, dict):
        raise invalid("certificate", "a certificate as data", data)
    for name, (allowed, test) in PARTS.items():
        if name not in data or not test(data[name]):
            raise invalid(f"certificate: {name}", allowed, data.get(name))
    theorem = BatchTheorem.by_class_name[data["theorem"]](data["delta"], data["quantity"])
    evidence = BatchEvidence(
        subject=data["subject"],
        rounds=data["rounds"],
        happened=data["observed"],
        assumptions=tuple(
            Assumption(statement, Basis[basis], holds, detail)
            for statement, basis, holds, detail in data["assumptions"]
        ),
    )
    hindsight = None if data["hindsight"] is None else Hindsight(*data["hindsight"])
    made: Certificate = evidence.certificate(theorem, data["bound"], data["inputs"], hindsight=hindsight)
    return replace(made, others=tuple(from_data(other) for other in data["others"]))
