"""A table of forecasts: which of its columns are experts, what names its rows, and files of forecasts."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len

from afterwit.cli._said import Voice, warn
from afterwit.cli._shown import in_unit
from afterwit.cli._source import names_written
from afterwit.core.aligned import to_the_left
from afterwit.errors import InputError, StreamError, Words, invalid, shorten
from afterwit.streams.batch import UNNAMED
from afterwit.streams.table import Table, TableFile

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
#: The group of each row.
Groups = npt.NDArray[np.str_]

#: A column is no forecast if it is this many times further from the target than the target is from its own median.
FAR = 4.0
#: How many forecasts are printed.
MOST_TO_SHOW = 10


def split_names(option: str, text: str | None, but: Sequence[str] = ()) -> list[str]:
    """Names of columns as they are written after an option, A,B,...; none of them is one of ``but``."""
    if text is None:
        return []
    found = list(names_written(option, text))
    if len(set(found)) < len(found):
        raise invalid(option, "different column names separated by commas", text)
    for name in but:
        if name in found:
            raise invalid(option, f"columns other than the target {name}", text)
    return found


@dataclass(frozen=True)
class Choice:
    """The columns that are taken for experts, and why other columns of numbers are not."""

    experts: list[str]
    far: list[str]
    counting: list[str]
    #: Columns of numbers with something else in them: the place and the cell.
    spoilt: Mapping[str, tuple[str, str]]

    def warn(self, target: str = "") -> None:
        """Name the columns that were left out, on standard error."""
        chooses = "(--experts A,B,... chooses the columns)"
        if self.far:
            listed = shorten(Words(", ".join(self.far)), 300)
            warn(f"left out {listed}: too far from {target} to be forecasts of it {chooses}")
        for column, (place, cell) in self.spoilt.items():
            remedy = "(correct it, or leave the cell empty)"
            warn(f"left out {column}: {place} has {shorten(cell)} where a number was expected {remedy}")
        if self.counting:
            warn(f"left out {self.counting[0]}: it counts the rows {chooses}")


def choose_experts(table: Table, target: str, others: Sequence[str] = ()) -> Choice:
    """The columns that can be forecasts of the target, judged by all rows in which both are known.

    The distance of a column is the median of |column - target|. The spread of the target is the median distance from
    its own median, of the rows that are not equal to it. A column is left out if its distance is more than `FAR` times
    the spread, and more than `FAR` times the distance of the nearest column: so the nearest one always stays. A first
    column that says 0, 1, 2, ... or 1, 2, 3, ... counts the rows. ``others`` are columns that are used otherwise.
    """
    names = [name for name in table.names if name not in (target, *others)]
    outcomes = table.column(target)
    counting = [name for name in names if name == table.header[0] and _counts(table.column(name))]
    judged = [name for name in names if name not in counting]
    distances = {name: _median(np.abs(table.column(name) - outcomes)) for name in judged}
    from_median = np.abs(outcomes - _median(outcomes))
    spread = _median(from_median[from_median > 0])
    nearest = min((distance for distance in distances.values() if not np.isnan(distance)), default=np.nan)
    # Comparisons with NaN are False: where nothing is known, or the target is constant, nothing is left out.
    far = [name for name in judged if distances[name] > FAR * spread and distances[name] > FAR * nearest]
    spoilt = {name: found for name, found in table.spoilt.items() if name not in others}
    return Choice([name for name in judged if name not in far], far, counting, spoilt)


def _median(values: Floats) -> float:
    there = values[~np.isnan(values)]
    return float(np.median(there)) if len(there) else np.nan


def _counts(values: Floats) -> bool:
    return len(values) > 2 and values[0] in (0.0, 1.0) and bool((np.diff(values) == 1).all())


def advice_of(table: Table, names: Sequence[str]) -> Floats:
    """The forecasts of these columns: rows are rounds."""
    return np.ascontiguousarray(table.values[:, [table.names.index(name) for name in names]])


def index_columns(opened: TableFile, used: Sequence[str], named: Sequence[str]) -> list[str]:
    """The columns that name the rows, in the order of the file.

    They are those the user named, or else the first one and all that hold no numbers, if they are not used otherwise.
    """
    if named:
        opened.require(named)
        return [name for name in opened.header if name in named]
    numbers = (*opened.numeric, *opened.spoilt)
    texts = [name for name in opened.header if name not in numbers and not UNNAMED.fullmatch(name)]
    return [name for name in opened.header if name not in used and (name == opened.header[0] or name in texts)]


def row_names(table: Table, used: Sequence[str]) -> dict[str, list[str]]:
    """The columns that name the rows, which are not used otherwise."""
    return {name: cells for name, cells in table.texts.items() if name not in used}


#: How messages about arrays name a place, and what stands there in messages about a file.
PLACES = (
    (re.compile(r"^advice\[(?P<row>\d+), (?P<name>.+?)\]"), "{column}"),
    (re.compile(r"^outcomes\[(?P<row>\d+)\]"), "the target {target}"),
    (re.compile(r" in row (?P<row>\d+)"), ""),
)
#: How a message about a group begins.
GROUP = re.compile(r"^(group (?:'.*?'|\".*?\")), row (\d+): ")


@contextmanager
def naming_lines(
    table: Table, rows: npt.NDArray[np.intp], target: str = "", column: str = "column {name}"
) -> Iterator[None]:
    """Turn a message about entries of arrays into one about the file: the array's rows are these rows of it.

    ``column`` is how it names the column, or the columns, of an expert.
    """
    try:
        yield
    except InputError as error:
        message, head = str(error), ""
        if found := GROUP.match(message):
            message, head = message[found.end() :], f"{found[1]}: "
            rows = rows[[int(found[2])]]
        if len(rows) == 1:
            message = re.sub(r"^advice\[([^,]+?)\]", r"advice[0, \1]", message)
            message = re.sub(r"^outcomes?\b(?!\[)", "outcomes[0]", message)
        for pattern, instead in PLACES:
            if found := pattern.search(message):
                name = found.groupdict().get("name", "").strip("'")
                place = instead.format(column=column.format(name=name), target=target)
                message = message[: found.start()] + place + message[found.end() :]
                raise StreamError(head + message, **table.place(int(rows[int(found["row"])]))) from None
        where = {"path": table.name} if len(rows) != 1 else table.place(int(rows[0]))
        raise StreamError(head + message, **where) from None


def groups_first(groups: Groups | None, rows: Any) -> list[list[str]]:
    """The groups of these rows as a learner of groups takes them, before all else; others take none."""
    return [] if groups is None else [groups[rows].tolist()]


def forecasts_of(
    table: Table,
    target: str,
    learner: Any,
    advice: Floats,
    outcomes: npt.NDArray[Any],
    there: Mask,
    asleep: Mask,
    groups: Groups | None = None,
    column: str = "column {name}",
) -> Floats:
    """Learn the rows whose target is there. A row without it is forecast by what was learned before it.

    Such a row in which nobody has a forecast gets none.
    """
    ahead = ~there & ~asleep.all(axis=1)
    past = learner.copy() if ahead.any() else None
    with naming_lines(table, np.flatnonzero(there), target, column):
        made = learner.learn_many(*groups_first(groups, there), advice[there], outcomes[there])
    forecasts: Floats = np.full((len(there), *made.shape[1:]), np.nan)
    forecasts[there] = made
    if past is not None:
        # Where what is known begins or ends.
        starts = [0, *(np.flatnonzero(np.diff(there)) + 1).tolist(), len(there)]
        for begin, end in itertools.pairwise(starts):
            rows = np.arange(begin, end)
            if there[begin]:
                past.learn_many(*groups_first(groups, rows), advice[rows], outcomes[rows])
                continue
            rows = rows[ahead[rows]]
            with naming_lines(table, rows, target, column):
                forecasts[rows] = past.predict_many(*groups_first(groups, rows), advice[rows])
    return forecasts


def require_rows(table: Table) -> None:
    if not len(table):
        raise StreamError("no rows were found after the header", path=table.name)


Columns = Mapping[str, Sequence[str | float]]


def with_forecasts(columns: Columns, forecasts: Mapping[str, Floats]) -> dict[str, Sequence[str | float]]:
    """Columns and the forecasts after them, under names that no other column has."""
    found = dict(columns)
    for name, values in forecasts.items():
        while name in found:
            name = f"combined {name}"
        found[name] = values.tolist()
    return found


def write_columns(file: BinaryIO, columns: Columns) -> None:
    """Write columns as CSV; what is not a number is an empty cell."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell != cell else cell if isinstance(cell, str) else repr(cell) for cell in row])
    # The file belongs to the caller.
    text.detach()


def show_forecasts(
    names: Mapping[str, list[str]],
    rows: Sequence[int],
    forecasts: Floats,
    voice: Voice,
    intervals: Floats | None = None,
) -> None:
    """The first forecasts of these rows, each with its name or its number, and with its interval if there is one."""
    shown = [
        (_named(", ".join(cells[row] for cells in names.values()), row), float(forecasts[row]))
        for row in rows[:MOST_TO_SHOW]
    ]
    numbers = ["-" if number != number else in_unit(number) for _, number in shown]
    name_width = max((cell_len(name) for name, _ in shown), default=0)
    number_width = max(map(len, numbers), default=0)
    for (name, _), number, row in zip(shown, numbers, rows, strict=False):
        ends = None if intervals is None or np.isnan(intervals[row]).any() else intervals[row].tolist()
        interval = "" if ends is None else f"  from {in_unit(ends[0])} to {in_unit(ends[1])}"
        voice.say(f"  {to_the_left(name, name_width)}  {number:>{number_width}}{interval}")
    if len(rows) > MOST_TO_SHOW:
        voice.say(f"  and {len(rows) - MOST_TO_SHOW:,} more (--predictions OUT writes all)")


def _named(cells: str, row: int) -> str:
    return shorten(Words(cells), 48) if cells else f"row {row + 1:,}"
