"""The options that say what is read and how: the same for every command that reads examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from afterwit.errors import InputError, invalid
from afterwit.streams.columns import PARTS
from afterwit.streams.formats import FORMATS
from afterwit.streams.libsvm import label_as_written
from afterwit.streams.read import read
from afterwit.streams.sources import Dialect, Query
from afterwit.streams.stream import Stream
from afterwit.streams.table import TableFile
from afterwit.streams.target import TASKS

Command = TypeVar("Command", bound=Callable[..., Any])

FIRST_ID = click.option(
    "--first-id",
    type=click.IntRange(0, 1),
    help="Of libsvm text: the id of the first column, for a model that is used with arrays: their columns are "
    "counted from 0. Default: the ids themselves, as aw.read_libsvm(path) reads them.",
)
#: How a file is written.
FILE_OPTIONS = (
    click.option(
        "--sql", metavar="QUERY", help="Read the rows of a query instead: \"SELECT ... FROM 'x.parquet' ...\"."
    ),
    click.option(
        "--format", "format_", metavar="NAME", help=f"The format: {', '.join(FORMATS)}. Default: by the content."
    ),
    click.option("--names", metavar="A,B,...", help="The names of the columns of CSV text without a header."),
    click.option("--delimiter", metavar="CHARACTER", help='What separates the cells of CSV text; "tab" for a tab.'),
    click.option("--no-quotes", is_flag=True, help="Quotes in CSV text are characters like any other."),
    FIRST_ID,
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="At a row that cannot be read: stop, or leave it out. Rows left out are counted; the first ten are shown.",
    ),
    click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Stop after N rows."),
)
#: The same for a table, which has names for its columns.
TABLE_OPTIONS = tuple(option for option in FILE_OPTIONS if option is not FIRST_ID)
#: What columns mean.
COLUMN_OPTIONS = (
    click.option("--target", metavar="COLUMN", help="The column to predict. libsvm and VW text have their own labels."),
    click.option("--task", metavar="NAME", help=f"{', '.join(TASKS)}. Default: by the values of the target."),
    click.option(
        "--labels",
        metavar="NEGATIVE,POSITIVE",
        help="The two labels. Default: found in the data; the smaller one is the negative label. For many classes: all "
        "that may come. Default: any.",
    ),
    click.option("--numeric", metavar="A,B,...", help="Columns of numbers; anything else in them is an error."),
    click.option("--categorical", metavar="A,B,...", help="Columns of categories, even if they look like numbers."),
    click.option("--ignore", metavar="A,B,...", help="Columns that are not used."),
    click.option("--text", metavar="A,B,...", help="Columns of text, whose words become features."),
    click.option("--words", type=click.Choice(["counts", "binary"]), default="counts", help="How words are counted."),
    click.option("--ngrams", metavar="N", type=click.IntRange(min=1), default=1, help="Up to N neighbouring words."),
    click.option(
        "--time",
        "times",
        metavar="COLUMN[=PART,...]",
        multiple=True,
        help=f"A column of times, whose parts become features: {', '.join(PARTS)} (all, unless some are named).",
    ),
    click.option("--weight", metavar="COLUMN", help="How often a row is learned, a whole number."),
    click.option("--missing", is_flag=True, help='A missing cell is a feature, "COLUMN is missing".'),
    click.option("--interactions", metavar="A*B,...", help="Products of columns."),
    click.option(
        "--hash",
        "hash_bits",
        metavar="BITS",
        type=click.IntRange(1, 28),
        help="Features have no names but 2^BITS positions: memory is bounded. Collisions are reported.",
    ),
    click.option("--order-by", metavar="COLUMN", help="Sort the rows by this column first."),
)
FILE_NAMES = ("sql", "format_", "names", "delimiter", "no_quotes", "first_id", "on_error")
COLUMN_NAMES = (
    "target",
    "task",
    "labels",
    "numeric",
    "categorical",
    "ignore",
    "text",
    "words",
    "ngrams",
    "times",
    "weight",
    "group",
    "missing",
    "interactions",
    "hash_bits",
    "order_by",
)


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """A decorator that gives a command these options, in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@dataclass(frozen=True)
class Given:
    """What the user said about the source, as the command line has it."""

    files: tuple[str, ...]
    values: dict[str, Any]

    @classmethod
    def of(cls, files: Sequence[str], values: dict[str, Any]) -> Given:
        """The options of this module among all those of a command; a source must be named."""
        sql = values.get("sql")
        if bool(files) == bool(sql):
            raise InputError(
                "FILE and --sql exclude each other" if files else "FILE is missing: name files, or use --sql"
            )
        return cls(tuple(files), {name: values[name] for name in (*FILE_NAMES, *COLUMN_NAMES) if name in values})

    @property
    def source(self) -> Any:
        """As `read` takes it."""
        sql = self.values.get("sql")
        return Query(sql) if sql else self.files[0] if len(self.files) == 1 else list(self.files)

    @property
    def shown(self) -> str:
        """As messages about the command name it."""
        return self.files[0] if self.files else "--sql"

    def file_options(self) -> dict[str, Any]:
        """How the file is written, as options of `read`."""
        values = self.values
        delimiter = values["delimiter"]
        return {
            "format": values["format_"],
            "names": None if values["names"] is None else names_written("--names", values["names"]),
            "delimiter": "\t" if delimiter in ("tab", "\\t") else delimiter,
            "quotes": not values["no_quotes"],
            "first_id": values.get("first_id"),
            "on_error": values["on_error"],
        }

    def open_table(self) -> TableFile:
        """The source as a table of numbers."""
        options = self.file_options()
        dialect = Dialect(options["names"], options["delimiter"], options["quotes"], None, options["on_error"])
        return TableFile(self.source, options["format"], dialect)

    def open(self, task: str | None, many: bool = False) -> Stream:
        """The stream, with a schema that is decided now; ``task`` is what the learner needs, None for any."""
        values = self.values
        return read(
            self.source,
            values["target"],
            **self.file_options(),
            task=values["task"] or task,
            labels=labels_written(values["labels"], many or values["task"] == "classes" or task is None),
            numeric=names_written("--numeric", values["numeric"]),
            categorical=names_written("--categorical", values["categorical"]),
            ignore=names_written("--ignore", values["ignore"]),
            text=names_written("--text", values["text"]),
            words=values["words"],
            ngrams=values["ngrams"],
            time=_times_written(values["times"]),
            weight=values["weight"],
            group=values.get("group"),
            missing=values["missing"],
            interactions=names_written("--interactions", values["interactions"]),
            hash_bits=values["hash_bits"],
            order_by=values["order_by"],
        )

    def refuse_columns(self, why: str) -> None:
        """Refuse what would decide a schema anew, where there is one already."""
        usual = {"words": "counts", "ngrams": 1}
        for name in COLUMN_NAMES:
            value = self.values.get(name)
            if name not in ("order_by", "labels", "target") and value and value != usual.get(name):
                option = {"times": "time", "hash_bits": "hash"}.get(name, name).replace("_", "-")
                raise invalid(f"--{option}", f"left out, because {why}", value)


def names_written(option: str, text: str | None) -> tuple[str, ...]:
    """The names of a list that is separated by commas; a name in double quotes may hold commas."""
    if text is None:
        return ()
    import csv

    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True, strict=True))]
    except (csv.Error, StopIteration):
        names = [""]
    if not all(names):
        raise invalid(option, "names separated by commas", text)
    return tuple(names)


def _times_written(times: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for text in times:
        column, equals, parts = text.rpartition("=")
        found[column if equals else text] = names_written("--time", parts) if equals else PARTS
    return found


def labels_written(text: str | None, many: bool) -> tuple[Any, ...] | None:
    """The labels of the option: two of them, or for many classes two or more."""
    if text is None:
        return None
    rest = ", or more of them for many classes" if many else ""
    allowed = f"two different labels separated by a comma, such as -1,1 or ham,spam{rest}"
    parts = [part.strip() for part in text.split(",")]
    labels = _as_values(parts)
    if len(labels) < 2 or (len(labels) > 2 and not many) or not all(parts):
        raise invalid("--labels", allowed, text)
    if len(set(labels)) < len(labels) or not all(map(_is_label, labels)):
        raise invalid("--labels", allowed, text)
    return tuple(labels)


def _as_values(parts: list[str]) -> list[Any]:
    """Labels as the data has them: all numbers, all truth values, or words."""
    try:
        return [label_as_written(float(part)) for part in parts]
    except ValueError:
        pass
    truths = {"true": True, "false": False}
    return [truths[part.lower()] for part in parts] if all(part.lower() in truths for part in parts) else list(parts)


def _is_label(label: Any) -> bool:
    return isinstance(label, str) or math.isfinite(label)
