"""Reading advice: one number per expert and round, whatever the user has; NaN where an expert sleeps.

Arrays have an expert in each column. DataFrames and dicts have names: an expert that is absent, None or NaN sleeps.
Where only the number of experts was given, a first DataFrame names all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data._arrays import finite_row
from afterwit.data.checks import is_whole
from afterwit.data.rows import FRAME_LIBRARIES, as_mapping, number, open_frame, plain_name
from afterwit.data.values import is_masked_array
from afterwit.errors import InputError, Words, counted, invalid, shorten

Floats = npt.NDArray[np.float64]

ONE = "a 1-D array or a dict of expert -> number"
MANY = "a 2-D array, a DataFrame or a sequence of dicts, with a row for each round"


class Experts:
    """How many experts there are and, where they have any, their names. Immutable: a new name makes a new one."""

    def __init__(self, count: int, names: Sequence[Any] = (), kind: str = "expert") -> None:
        self.count = count
        #: What they are called in messages: "expert" or "asset".
        self.kind = kind
        self.names = tuple(names)
        self.places = {name: i for i, name in enumerate(self.names)}

    def named(self, names: Sequence[Any], fresh: bool, parameter: str) -> Experts:
        """These experts, knowing the names; those not yet known take the places that have no name."""
        unknown = [plain_name(name) for name in names if name not in self.places]
        if not unknown:
            return self
        if not self.names and not fresh:
            raise invalid(
                parameter,
                f"an array, as in the rounds before; names need a learner made with them (n_{self.kind}s=[...])",
                Words("names"),
            )
        if len(self.names) + len(unknown) > self.count:
            if len(self.names) == self.count:
                raise invalid(
                    parameter, f"from the {self.count} {self.kind}s known", Words(f"{shorten(unknown[0])} as well")
                )
            total = len(self.names) + len(unknown)
            raise invalid(parameter, f"from at most {self.count} {self.kind}s", Words(f"{parameter} from {total}"))
        return Experts(self.count, (*self.names, *unknown), self.kind)

    def name(self, i: int) -> Any:
        """An expert's name; its position where there are no names, None while others' are known and its own is not."""
        if not self.names:
            return i
        return self.names[i] if i < len(self.names) else None


def read_experts(n_experts: Any, parameter: str = "n_experts", kind: str = "expert") -> Experts:
    """The number of experts, or their names."""
    allowed = "a whole number, at least 1, or a sequence of different names"
    if is_whole(n_experts) and int(n_experts) >= 1:
        return Experts(int(n_experts), kind=kind)
    if isinstance(n_experts, Iterable) and not isinstance(n_experts, (str, bytes)):
        names = [plain_name(name) for name in n_experts]
        try:
            if 0 < len(names) == len(set(names)):
                return Experts(len(names), names, kind)
        except TypeError:
            pass
    raise invalid(parameter, allowed, n_experts)


def read_round(advice: Any, experts: Experts, fresh: bool, parameter: str = "advice") -> tuple[Floats, Experts]:
    """One round as an array of shape (1, experts)."""
    advice = as_mapping(advice)
    if isinstance(advice, Mapping):
        return _from_dicts([advice], experts, fresh, parameter, single=True)
    if isinstance(advice, (str, bytes)) or not (hasattr(advice, "__array__") or isinstance(advice, Sequence)):
        raise invalid(parameter, ONE, advice)
    values = _numbers(advice, parameter, ONE)
    if values.ndim != 1 or len(values) != experts.count:
        expected = f"one number for each of the {experts.count:,} {experts.kind}s"
        raise invalid(parameter, expected, Words(f"an array of shape {values.shape}"))
    return values.reshape(1, -1), experts


def read_rounds(advice: Any, experts: Experts, fresh: bool, parameter: str = "advice") -> tuple[Floats, Experts]:
    """Many rounds as an array of shape (rounds, experts)."""
    if type(advice).__module__.partition(".")[0] in FRAME_LIBRARIES:
        return _from_frame(advice, experts, fresh, parameter)
    if isinstance(advice, Sequence) and len(advice) and all(isinstance(as_mapping(row), Mapping) for row in advice):
        return _from_dicts([as_mapping(row) for row in advice], experts, fresh, parameter)
    if isinstance(advice, (str, bytes)) or not (hasattr(advice, "__array__") or isinstance(advice, Sequence)):
        raise invalid(parameter, MANY, advice)
    values = _numbers(advice, parameter, MANY)
    if values.size == 0 and values.ndim == 1:
        values = values.reshape(0, experts.count)
    if values.ndim != 2 or values.shape[1] != experts.count:
        expected = f"two-dimensional with {counted(experts.count, 'column')}, one for each {experts.kind}"
        raise invalid(parameter, expected, Words(f"an array of shape {values.shape}"))
    return values, experts


def read_outcomes(outcomes: Any, rounds: int) -> Floats:
    """One finite number for each round."""
    if type(outcomes).__module__.partition(".")[0] in FRAME_LIBRARIES and hasattr(outcomes, "to_numpy"):
        outcomes = outcomes.to_numpy()
    values = _numbers(outcomes, "outcomes", "a 1-D array of numbers")
    if values.ndim != 1 or len(values) != rounds:
        raise invalid("outcomes", f"as long as advice ({counted(rounds, 'round')})", Words(f"shape {values.shape}"))
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        raise invalid(f"outcomes[{at}]", "a finite number", float(values[at]))
    # The loops take arrays that may be written to; columns of frames often may not.
    return values if values.flags.writeable else values.copy()


def check_presence(values: Floats, experts: Experts, sleeping: bool, refusal: str, parameter: str = "advice") -> bool:
    """Refuse infinities, rounds in which all sleep and, for algorithms that do not allow it, any sleeper.

    Says whether anyone sleeps.
    """
    if len(values) == 1 and finite_row(values[0]) is not None:
        return False
    # One pass decides nearly always: a sum is finite only if every number is, or it overflowed.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return False
    if np.isinf(values).any():
        i, j = np.argwhere(np.isinf(values))[0].tolist()
        raise invalid(_place(parameter, values, i, experts.name(j)), "a finite number or missing", float(values[i, j]))
    asleep = np.isnan(values)
    if not asleep.any():
        return False
    if not sleeping:
        i, j = np.argwhere(asleep)[0].tolist()
        raise InputError(f"{_place(parameter, values, i, experts.name(j))} is missing; {refusal}")
    if asleep.all(axis=1).any():
        i = int(np.argmax(asleep.all(axis=1)))
        where = "" if len(values) == 1 else f" in row {i}"
        raise invalid(parameter, "from at least one expert in every round", Words(f"none{where}: all sleep"))
    return True


def _place(parameter: str, values: Floats, i: int, name: Any) -> str:
    return f"{parameter}[{name!r}]" if len(values) == 1 else f"{parameter}[{i}, {name!r}]"


def _numbers(advice: Any, parameter: str, allowed: str) -> Floats:
    if is_masked_array(advice):
        advice = np.ma.filled(advice.astype(np.float64), np.nan)
    try:
        array = np.asarray(advice)
        if array.dtype.kind == "O":
            array = np.array([np.nan if value is None else value for value in array.reshape(-1)]).reshape(array.shape)
        if array.dtype.kind not in "biuf" and array.size:
            raise invalid(parameter, "an array of numbers", Words(f"an array of dtype {array.dtype}"))
        # The compiled loops take only arrays they might write to.
        return np.require(array, np.float64, ["C", "W"])
    except InputError:
        raise
    except (TypeError, ValueError):
        raise invalid(parameter, allowed, advice) from None


def _from_dicts(
    rows: Sequence[Mapping[Any, Any]], experts: Experts, fresh: bool, parameter: str, single: bool = False
) -> tuple[Floats, Experts]:
    experts = experts.named(list(dict.fromkeys(name for row in rows for name in row)), fresh, parameter)
    values = np.full((len(rows), experts.count), np.nan)
    for i, row in enumerate(rows):
        for name, value in row.items():
            if value is not None:
                where = f"{parameter}[{name!r}]" if single else f"{parameter}[{i}, {name!r}]"
                values[i, experts.places[name]] = number(where, value)
    return values, experts


def _from_frame(advice: Any, experts: Experts, fresh: bool, parameter: str) -> tuple[Floats, Experts]:
    import narwhals.stable.v2 as nw

    frame = open_frame(advice, parameter, MANY)
    if not experts.names and len(frame.columns) != experts.count:
        # Nobody knows who the others are: they are not asleep but forgotten.
        kind = experts.kind
        allowed = f"a DataFrame with {counted(experts.count, 'column')}, one for each {kind}"
        remedy = f"if some {kind}s have no column, name all of them: n_{kind}s=[...]"
        raise invalid(parameter, f"{allowed} ({remedy})", Words(f"one with {len(frame.columns):,}"))
    experts = experts.named(list(frame.columns), fresh, parameter)
    values = np.full((len(frame), experts.count), np.nan)
    for name in frame.columns:
        column = frame.get_column(name)
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            raise invalid(f"{parameter}[{name!r}]", "a column of numbers", Words(f"a column of {column.dtype}"))
        values[:, experts.places[name]] = column.cast(nw.Float64).fill_null(float("nan")).to_numpy()
    return values, experts
