"""Reading anything: files of any format, globs, folders, queries, DataFrames and records, as a stream for `play`.

>>> records = [{"colour": "red", "price": 3, "sold": "yes"}, {"colour": "blue", "price": 9, "sold": "no"}]
>>> stream = read(records, target="sold")
>>> print(stream.task, stream.labels)
binary ('no', 'yes')
>>> for x, y in stream:
...     print(y, x)
yes {'colour=red': 1.0, 'price': 3.0}
no {'colour=blue': 1.0, 'price': 9.0}
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from afterwit.data.labels import plain_label
from afterwit.errors import InputError, StreamError, Words, invalid, shorten
from afterwit.streams import stream as streams
from afterwit.streams._raw import FilesOfLines, Raw, RawReader, RecordReader
from afterwit.streams.batch import ROWS_TO_LOOK_AT, Batch, Column, TableReader, Texts
from afterwit.streams.deciding import Decided, Wishes, columns_listed, decide, kind_of_texts
from afterwit.streams.formats import checked_format
from afterwit.streams.libsvm import LibsvmReader, checked_first_id
from afterwit.streams.schema import Schema, checked_bits, unknown_column
from afterwit.streams.sources import Dialect, Source, source_of
from afterwit.streams.stream import Stream
from afterwit.streams.target import Target, checked_task, different, labels_in, pair_of, target_form, task_of

#: The first rows of text with a line for each example are looked at up to here: a power of two.
LAST_LOOK = 1024
#: How many rows of what can be read only once are held while the second label is looked for.
MOST_ROWS_TO_HOLD = streams.BLOCK
MOST_VALUES_TO_HOLD = 4_000_000


@dataclass(frozen=True)
class Purpose:
    """What is to be learned: the task and the labels, each found out if it is None."""

    task: str | None = None
    labels: tuple[Any, ...] | None = None


def read(
    source: Any,
    target: str | None = None,
    *,
    format: str | None = None,  # noqa: A002 - what everyone calls it
    task: str | None = None,
    labels: Any = None,
    schema: Schema | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    time: Any = (),
    weight: str | None = None,
    group: str | None = None,
    missing: bool = False,
    words: str = "counts",
    ngrams: int = 1,
    interactions: Sequence[Any] = (),
    hash_bits: int | None = None,
    order_by: str | None = None,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    first_id: int | None = None,
    on_error: str = "stop",
) -> Stream:
    """Examples in order, from anything; `play` learns from what this returns.

    source        a path, a glob pattern, a folder, a list of paths, "-" for standard input, a query that begins with
                  SELECT, a DataFrame, a DuckDB relation, or a list of dicts
    target        the column to predict; libsvm and Vowpal Wabbit text have their own labels. A row without a value
                  there is predicted and not learned
    format        libsvm, vw, csv, json, parquet or arrow; found out by the content if it is not given
    task          "binary", "classes" or "regression"; found out by the target if it is not given
    labels        the two labels, the negative one first, or all classes that may come
    schema        what was decided before, as ``model.schema`` has it; otherwise it is decided by the first 1,000 rows
    numeric, categorical, ignore, text, time
                  columns by what they are: numbers, categories, not used, text whose words are features, times whose
                  parts are (a dict gives the parts of each: {"when": ("hour", "weekday")})
    weight        the column with how often a row is learned, a whole number; 0 is predicted and not learned
    group         the column with whose a row is, such as a customer, for `PerGroup`: it is no feature
    missing       whether a missing cell is a feature of its own, ``COLUMN is missing``
    words, ngrams of text: "counts" or "binary"; sequences of up to so many words
    interactions  products of columns, such as ["a*b"]
    hash_bits     features have no names, but positions by a hash of so many bits: memory is bounded
    order_by      sort the rows by this column, beyond memory if need be
    names, delimiter, quotes
                  of CSV text: the names of the columns if its first line does not have them; the character between
                  cells; whether cells may be quoted
    first_id      of libsvm text: the id of the first column, 0 or 1
    on_error      "stop" at a row that cannot be read, or "skip" it
    """
    lists = {"numeric": numeric, "categorical": categorical, "ignore": ignore, "text": text}
    said = {name: columns_listed(name, columns) for name, columns in lists.items()}
    wishes = Wishes(
        target=target,
        weight=weight,
        group=group,
        **said,
        time=time,
        binary=_is_binary(words),
        ngrams=ngrams,
        missing=missing,
        interactions=tuple(interactions),
        hash_bits=hash_bits,
    )
    purpose = Purpose(checked_task(task), _checked_labels(labels))
    dialect = Dialect(
        None if names is None else columns_listed("names", names),
        delimiter,
        quotes,
        None if first_id is None else checked_first_id("first_id", first_id),
        _checked_on_error(on_error),
        said["ignore"],
    )
    found = source_of(source, checked_format("format", format), dialect, order_by)
    if found.table is None:
        return _lines(found, wishes, purpose, schema)
    return _table(found, wishes, purpose, schema)


def _is_binary(words: Any) -> bool:
    if words not in ("counts", "binary"):
        raise invalid("words", "'counts' or 'binary'", words)
    return bool(words == "binary")


def _checked_labels(labels: Any) -> tuple[Any, ...] | None:
    if labels is None:
        return None
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise invalid("labels", "a sequence of labels, such as (0, 1) or ('ham', 'spam')", labels)
    return tuple(plain_label(each) for each in labels)


def _checked_on_error(on_error: Any) -> str:
    if on_error not in ("stop", "skip"):
        raise invalid("on_error", "'stop' or 'skip'", on_error)
    return str(on_error)


def opening(source: Source, schema: Schema, target: Target | None) -> Callable[[], RawReader]:
    """What opens a source at its beginning, once it is decided how it is read."""
    dialect = source.dialect

    def table() -> RawReader:
        assert source.table is not None
        reader = source.table()
        try:
            reader.look(ROWS_TO_LOOK_AT)
            return RecordReader(reader, schema, target)
        except BaseException:
            reader.close()
            raise

    def libsvm(path: str) -> Any:
        return LibsvmReader(path, dialect.first_id, on_error=dialect.on_error)

    def vw(path: str) -> Any:
        from afterwit.streams.vw import VwReader

        reader = VwReader(path, on_error=dialect.on_error)
        reader.counts = schema.hash_bits is None
        return reader

    if source.table is not None:
        return table
    return lambda: FilesOfLines(libsvm if source.format == "libsvm" else vw, source.paths, schema)


# ---------------------------------------------------------------------- tables


def _table(source: Source, wishes: Wishes, purpose: Purpose, schema: Schema | None) -> Stream:
    assert source.table is not None
    reader = source.table()
    try:
        look = reader.look(ROWS_TO_LOOK_AT)
        if not look.count:
            raise streams.nothing_found(source.name)
        if schema is not None:
            decided = Decided(schema, _not_used(schema, look))
            there = _target_there(schema, look, wishes.target)
            wishes = replace(wishes, target=there, weight=schema.weight, group=_group_there(schema, look))
        else:
            if wishes.target is None and purpose != Purpose():
                raise InputError(_no_target(look))
            if wishes.target not in (None, *look.columns):
                raise _no_such_target(wishes.target, look, source)
            decided = decide(look, wishes, keys=source.keys)
        target = _target_of(look, reader.typed, wishes.target, purpose) if wishes.target is not None else None
        task, labels, reader = _task_of_table(source, reader, look, target, purpose)
        first: RawReader = RecordReader(reader, decided.schema, target)
    except BaseException:
        reader.close()
        raise

    return Stream(
        name=source.name,
        schema=decided.schema,
        task=task,
        labels=labels,
        open=opening(source, decided.schema, target),
        format=source.format,
        size=source.size,
        rereadable=source.rereadable or not source.paths,
        notes=tuple(decided.notes),
        given=purpose.labels is not None,
        source=source,
        target=target,
        _first=first,
    )


def _not_used(schema: Schema, look: Batch) -> list[str]:
    """What to say of columns that a schema does not know."""
    strangers = [name for name in look.columns if name not in schema.known]
    if not strangers:
        return []
    names = shorten(Words(", ".join(strangers)), 200)
    return [f"{look.path}: columns that the model does not know are not used: {names}"]


def _no_target(look: Batch) -> str:
    names = shorten(Words(", ".join(look.columns)), 300)
    return f"{look.path}: --target names the column to predict; the columns are {names}"


def _no_such_target(target: Any, look: Batch, source: Source) -> InputError:
    """The target is no column: perhaps CSV text was read in another way than it was written, or a file is astray."""
    error = unknown_column("target", target, look.columns)
    if "Did you mean" not in str(error) and source.format == "csv":
        if len(look.columns) == 1:
            error = InputError(f"{error} (--delimiter gives the character that separates cells)")
        elif not source.dialect.names:
            error = InputError(f"{error} (--names A,B,... names the columns of a file without a header)")
    if len(source.paths) < 2:
        return error
    return InputError(f"{look.path}: {error}. A pattern in quotes, such as 'FOLDER/*.csv', leaves other files out")


def _target_there(schema: Schema, look: Batch, wanted: str | None) -> str | None:
    """The target of a schema, if this table has it: a table without is only predicted."""
    if wanted is not None and wanted != schema.target:
        raise invalid("target", f"{schema.target!r}, as when the model was made, or left out", wanted)
    return schema.target if schema.target in look.columns else None


def _group_there(schema: Schema, look: Batch) -> str | None:
    """The group of a schema; without it nobody knows whose a row is."""
    if schema.group is not None and schema.group not in look.columns:
        raise StreamError(f"a column {schema.group} with the names of the groups was expected", path=look.path)
    return schema.group


def _target_of(look: Batch, typed: bool, name: str, purpose: Purpose) -> Target:
    column = look.columns.get(name)
    if column is None:
        raise unknown_column("target", name, look.columns)
    return Target(name, target_form(column, name, typed, _what_it_holds(column, name, look, purpose)))


def _what_it_holds(column: Column, name: str, look: Batch, purpose: Purpose) -> str:
    """What the cells of a target are if they are text: as the labels say that are given, or as they seem."""
    if purpose.labels is None:
        return "number" if purpose.task == "regression" else kind_of_texts(column, name, look)
    kinds = {"boolean" if isinstance(label, bool) else type(label).__name__ for label in purpose.labels}
    return "number" if kinds <= {"int", "float"} else "boolean" if kinds == {"boolean"} else "category"


def _task_of_table(
    source: Source, reader: TableReader, look: Batch, target: Target | None, purpose: Purpose
) -> tuple[str | None, tuple[Any, ...] | None, TableReader]:
    """The task, its labels, and the reader to go on with: it is a fresh one if the labels had to be looked for."""
    if target is None:
        return None, None, reader
    if purpose.task == "regression":
        return "regression", None, reader
    if purpose.labels is not None:
        task = purpose.task or ("binary" if len(purpose.labels) == 2 else "classes")
        return task, purpose.labels, reader
    if purpose.task == "classes":
        return "classes", None, reader
    found = _labels_in_look(look, target)
    which = "all labels"
    if len(found) < 2:
        if not source.rereadable and source.paths:
            which = streams.first_labels(look.count)
        else:
            found = _labels_further_on(source, target)
    if not found:
        raise StreamError(f"column {target.column} is empty: there is nothing to learn", path=source.name)
    task = task_of(found)
    if purpose.task == "binary" and len(found) > 2:
        reason = (
            f"column {target.column} holds {len(found):,} different values where two labels were expected; learners of "
            "many classes, such as multiclass-committee, take more (--task classes)"
        )
        raise StreamError(reason, path=source.name)
    if task != "binary":
        return task, None, reader
    return task, _pair(found, which, source.name), reader


def _labels_in_look(look: Batch, target: Target) -> list[Any]:
    """The different labels of the first rows."""
    column = look.columns[target.column]
    if target.form in ("number", "boolean") and isinstance(column, Texts):
        return different(labels_in(as_read(column.words, column.codes, target.form)), [])
    values, known = target.of(look)
    return different(labels_in(values[known]), [])


def as_read(words: Sequence[str], codes: Any, form: str) -> Any:
    """Cells of text as the values that the reader will make of them, without those that are missing."""
    import numpy as np

    from afterwit.streams._cells import MISSING_NUMBERS, boolean_of

    made: list[Any] = [
        (boolean_of(word) if form == "boolean" else None if word.lower() in MISSING_NUMBERS else float(word))
        for word in words
    ]
    found = [made[code] for code in codes.tolist() if code >= 0 and made[code] is not None]
    return np.array(found, dtype=bool if form == "boolean" else np.float64)


def _labels_further_on(source: Source, target: Target) -> list[Any]:
    """Labels of a table whose first rows have only one: it is read up to its second."""
    assert source.table is not None
    found: list[Any] = []
    reader = source.table()
    try:
        reader.look(1)
        reader.read_as({target.column: target.form})
        while len(found) < 2 and (batch := reader.take(streams.BLOCK)) is not None:
            values, known = target.of(batch)
            found = different(labels_in(values[known]), found)
    finally:
        reader.close()
    return found[:2]


def _pair(found: list[Any], which: str, name: str) -> tuple[Any, Any]:
    try:
        return pair_of(found, which)
    except InputError as error:
        raise StreamError(str(error), path=name) from None


# ---------------------------------------------------------------------- text with a line for each example


def _lines(source: Source, wishes: Wishes, purpose: Purpose, schema: Schema | None) -> Stream:
    _require_no_columns(source, wishes)
    decided = schema or Schema(None, hash_bits=checked_bits("hash_bits", wishes.hash_bits))
    if decided.columns is not None and source.format == "libsvm":
        reason = "a table, or Vowpal Wabbit text with its names, was expected, because the model has learned columns"
        raise StreamError(f"{reason}; this is libsvm text", path=source.name)
    if purpose.labels is not None and any(isinstance(label, (str, bool)) for label in purpose.labels):
        raise invalid("labels", f"numbers, because the labels of {source.format} text are numbers", purpose.labels)
    if source.format == "libsvm" and decided.hash_bits is not None:
        raise invalid("hash_bits", "left out, because the features of libsvm text are numbers", decided.hash_bits)
    open_all = opening(source, decided, None)
    first = open_all()
    ahead: deque[Raw] = deque()
    try:
        task, labels = purpose.task, purpose.labels
        if labels is not None and task is None:
            task = "binary" if len(labels) == 2 else "classes"
        if task is None or (task == "binary" and labels is None):
            task, labels = _task_of_lines(source, first, ahead, task)
        if not ahead and (raw := first.take(1)) is not None:
            ahead.append(raw)
        if not ahead:
            raise streams.nothing_found(source.name)
    except BaseException:
        first.close()
        raise
    if ahead[0] is _NOT_HELD:
        first.close()
        first, ahead = open_all(), deque()
    return Stream(
        name=source.name,
        schema=decided,
        task=task,
        labels=labels,
        open=open_all,
        format=source.format,
        size=source.size,
        rereadable=source.rereadable,
        given=purpose.labels is not None,
        source=source,
        _first=first,
        _ahead=ahead,
    )


#: Stands for what was read ahead and not held: the file is read again from its beginning.
_NOT_HELD: Any = object()


def _task_of_lines(source: Source, reader: RawReader, ahead: deque[Raw], task: str | None) -> tuple[str | None, Any]:
    """The task by the first labels, found by reading ahead; what was read is held for the first pass.

    A second label is looked for unless the first is -1 or 0, and all of the first rows are. Not more is held than a few
    rows: a file is then read to the second label, and again from its beginning. What can be read only once is not
    searched any further.
    """
    found: list[Any] = []
    rounds, values, next_point = 0, 0, 1
    which = "all labels"
    while True:
        if rounds >= LAST_LOOK and (len(found) > 1 or found[:1] in ([-1], [0])):
            break
        if ahead and ahead[0] is not _NOT_HELD and (rounds >= MOST_ROWS_TO_HOLD or values >= MOST_VALUES_TO_HOLD):
            if not source.rereadable:
                which = streams.first_labels(rounds)
                break
            ahead.clear()
            ahead.append(_NOT_HELD)
        # Blocks that end at powers of two, as `play` will want them.
        raw = reader.take(min(streams.BLOCK, next_point - rounds))
        if raw is None:
            break
        if not ahead or ahead[0] is not _NOT_HELD:
            ahead.append(raw)
        rounds += raw.rows.count
        values += len(raw.rows.values)
        next_point = 2 * next_point if rounds == next_point else next_point
        found = different(labels_in(raw.values[raw.known]), found)
        if rounds > LAST_LOOK:
            # It is no more than a second label that is still looked for.
            found = found[:2]
        if not source.rereadable and (len(found) > 1 or found[:1] in ([-1], [0])):
            # What comes slowly is learned from as it arrives.
            break
    if not rounds:
        raise streams.nothing_found(source.name)
    if not found:
        return None, None
    task = task or task_of(found)
    if task == "binary" and len(found) > 2:
        raise StreamError(f"there are {len(found):,} different labels; --labels gives the two", path=source.name)
    return (task, None) if task != "binary" else (task, _pair(found, which, source.name))


def _require_no_columns(source: Source, wishes: Wishes) -> None:
    """Refuse what is about columns, for text that has none."""
    said: dict[str, Any] = {**wishes.special, "numeric": wishes.numeric, "categorical": wishes.categorical}
    said |= {
        "text": wishes.text,
        "time": wishes.time,
        "ignore": wishes.ignore,
        "interactions": wishes.interactions,
        "missing": wishes.missing,
    }
    for name, value in said.items():
        if value:
            what = "has its own labels and weights" if name in ("target", "weight") else "has no columns"
            raise invalid(name, f"left out, because {source.format} text {what}", value)
