"""afterwit predict: predict with a saved model or expert algorithm, without learning."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click
import numpy as np

from afterwit.cli._advice import (
    advice_of,
    index_columns,
    naming_lines,
    require_rows,
    row_names,
    show_forecasts,
    split_names,
    with_forecasts,
    write_columns,
)
from afterwit.cli._combining import groups_of, intervals_of, template_of
from afterwit.cli._files import distinct_files, files_read
from afterwit.cli._judging import Judged, judge
from afterwit.cli._outcomes import forecast_vectors
from afterwit.cli._progress import display
from afterwit.cli._results import RESULT_OPTIONS, result_files
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._source import FILE_OPTIONS, Given, with_options
from afterwit.core.probabilities import refusal
from afterwit.core.storage import load
from afterwit.errors import ModelFileError, StreamError, Words, counted, invalid, shorten
from afterwit.reductions.per_group import PerGroup
from afterwit.streams.formats import LINES
from afterwit.streams.model import Model
from afterwit.streams.read import read
from afterwit.streams.schema import Schema
from afterwit.streams.stream import Stream
from afterwit.streams.table import TableFile


@click.command(short_help="Predict files with a saved model.")
@click.argument("model")
@click.argument("files", metavar="FILE...", nargs=-1)
@with_options(RESULT_OPTIONS)
@click.option(
    "--index",
    metavar="A,B,...",
    help="For a table of forecasts: the columns that name the rows. Default: the first column, and all that hold text "
    "or times, if they are no experts.",
)
@click.option("--group", metavar="COLUMN", help="For a model with a learner for each group: the column of their names.")
@with_options(FILE_OPTIONS)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="The most memory that the model may take. Default: 256 MiB, or a hundred times the size of the file.",
)
@with_options(SAYING_OPTIONS)
def predict(
    model: str,
    files: tuple[str, ...],
    predictions: str | None,
    scores: str | None,
    probabilities: str | None,
    index: str | None,
    group: str | None,
    limit: int | None,
    max_bytes: int | None,
    as_json: bool,
    quiet: bool,
    **source: Any,
) -> None:
    """Predict FILE (any format that "afterwit run" reads; - for standard input) with the model saved in MODEL.

    The columns become features by the schema of the model. If FILE has the target, it is only used to count mistakes
    or to measure errors. An example whose label the learner does not know is predicted, but not counted. If MODEL comes
    from "afterwit experts", FILE is a table with a column for each expert of the model. The model does not change.
    """
    results = {"predictions": predictions, "scores": scores, "probabilities": probabilities}
    distinct_files(results=tuple(results), MODEL=model, FILE=files_read(files, source["sql"]), **results)
    learner = load(model, max_bytes)
    given = Given.of(files, source)
    voice = Voice(as_json, quiet, "-" in results.values())
    if getattr(template_of(learner), "role", "classifier") == "experts":
        for option, value in (("first-id", source["first_id"]), ("probabilities", probabilities), ("scores", scores)):
            if value is not None:
                raise invalid(f"--{option}", "left out, because the model takes a table of forecasts", value)
        _forecast(model, learner, given, predictions, group, split_names("--index", index), limit, voice)
        return
    for option, value in (("index", index), ("group", group)):
        if value is not None:
            raise invalid(f"--{option}", "left out, because the model does not make forecasts", value)
    if isinstance(learner, PerGroup):
        raise ModelFileError(f"{model}: a learner for each group is used in Python; here it makes forecasts of a table")
    options = given.file_options()
    if not isinstance(learner, Model):
        _require_numbers(model, learner, source["first_id"])
    with ExitStack() as stack:
        out = stack.enter_context(result_files(**results))
        stream = stack.enter_context(stream_for(learner, given.source, options))
        for note in stream.notes:
            voice.warn(note)
        reader = stack.enter_context(stream.reader())
        shown = stack.enter_context(display(stream.name, stream.size))
        judged = _judged(model, learner, reader, out, limit, shown)
        if not judged.rows:
            raise StreamError("no examples were found", path=stream.name)
    voice.warn_of(reader.skipped)
    for line in judged.lines():
        voice.say(line)
    if not judged.compared and not out.any:
        voice.say(
            f"predictions{'' if judged.rows <= len(judged.first) else ' (the first ones; --predictions OUT for all)'}"
        )
        for prediction in judged.first:
            voice.say(f"  {prediction}")
    voice.finish({"model": model, "source": stream.name, **judged.to_dict(), "skipped": reader.skipped.count})


def _judged(model: str, learner: Any, reader: Any, out: Any, limit: int | None, shown: Any) -> Judged:
    inner = learner.learner if isinstance(learner, Model) else learner
    if out.probabilities is not None and getattr(inner, "role", "") == "regressor":
        raise invalid("--probabilities", "left out, because the model predicts numbers", Words("a file"))
    if out.scores is not None and not hasattr(inner, "score_many"):
        raise invalid("--scores", f"left out, because {type(inner).__name__} has no scores", Words("a file"))
    if out.probabilities is not None and not getattr(inner, "gives_probabilities", False):
        raise ModelFileError(f"{model}: {refusal(getattr(inner, 'learner', inner))}")

    def tell(judged: Judged, position: int) -> None:
        shown.advance_to(position)
        shown.watch(lambda: judged.rows, judged.so_far)

    return judge(inner, reader, out, limit, tell)


def stream_for(learner: Any, source: Any, options: dict[str, Any]) -> Stream:
    """A source as a saved model predicts it: any label may come."""
    if isinstance(learner, Model):
        return learner.stream_to_predict(source, **options)
    regression = getattr(learner, "role", "") == "regressor"
    # The task says that there is a target, which tables do not have by themselves.
    stream = read(source, **options, task="regression" if regression else "classes", schema=Schema(None))
    if stream.format == "libsvm":
        return stream
    stream.close()
    kind = "a table" if stream.format not in LINES else stream.kind
    raise StreamError(f"libsvm text was expected, as the model has learned it; this is {kind}", path=stream.name)


def _forecast(
    model: str,
    learner: Any,
    given: Given,
    predictions: str | None,
    group: str | None,
    index: list[str],
    limit: int | None,
    voice: Voice,
) -> None:
    """Forecast a table of advice: each row as if it came next."""
    if getattr(learner, "kinds", ()):
        if group is not None:
            raise invalid("--group", "left out, because the model has no groups", group)
        forecast_vectors(model, learner, given, predictions, index, limit, voice)
        return
    made = template_of(learner)
    experts = [str(name) for name in made.experts]
    # Intervals have an expert algorithm inside, which knows the names.
    named = bool(getattr(made, "point_forecaster", made).state()["names"])
    if set(experts) & set(index):
        raise invalid("--index", "columns other than the experts", Words(",".join(index)))
    if isinstance(learner, PerGroup) != (group is not None):
        if group is not None:
            raise invalid("--group", "left out, because the model has no groups", group)
        allowed = "the column with the names of the groups, because the model has a learner for each"
        raise invalid("--group", allowed, Words("nothing"))
    grouped = [] if group is None else [group]
    with ExitStack() as stack:
        out = stack.enter_context(result_files(predictions=predictions, scores=None, probabilities=None)).predictions
        opened = stack.enter_context(given.open_table())
        opened.require(grouped)
        if not named:
            experts = _in_their_place(model, opened, experts, [*index, *grouped])
        texts = index_columns(opened, experts, index)
        texts = [name for name in opened.header if name in (*texts, *grouped)]
        with display(opened.name, opened.size) as shown:
            table = opened.read(experts, texts, limit, shown.advance_to)
        require_rows(table)
        advice = advice_of(table, experts)
        forecasts, intervals = np.full(len(advice), np.nan), np.full((len(advice), 2), np.nan)
        banded = intervals_of(learner)
        awake = np.flatnonzero(~np.isnan(advice).all(axis=1))
        groups = [] if group is None else [groups_of(table, group)[awake].tolist()]
        with naming_lines(table, awake):
            forecasts[awake] = learner.predict_many(*groups, advice[awake])
        made_of = {"forecast": forecasts}
        if banded is not None:
            intervals[awake] = learner.interval_many(*groups, advice[awake])
            made_of |= {"forecast low": intervals[:, 0], "forecast high": intervals[:, 1]}
        rows = row_names(table, experts)
        if out is not None:
            write_columns(out, with_forecasts(rows, made_of))
    voice.warn_of(table.left_out)
    called = type(made if banded is None else banded).__name__
    what = f"{counted(len(advice), 'forecast')} by {called}"
    in_groups = f" in {counted(len(learner), 'group')}" if isinstance(learner, PerGroup) else ""
    learned = f"{counted(learner.rounds, 'round')} of {counted(len(experts), 'expert')}{in_groups}"
    voice.say(f"{what}, which has learned {learned}")
    if out is None:
        show_forecasts(rows, range(len(advice)), forecasts, voice, None if banded is None else intervals)
    voice.finish(
        {
            "model": model,
            "source": table.name,
            "learner": called,
            "rounds": learner.rounds,
            "experts": experts,
            "rows": len(advice),
            "forecasts": with_forecasts(rows, made_of),
        }
    )


def _in_their_place(model: str, opened: TableFile, experts: list[str], others: list[str]) -> list[str]:
    """The columns of experts that have no names: all that hold numbers, if there are as many."""
    found = [name for name in opened.numeric if name not in others]
    if len(found) != len(experts):
        columns = f"{counted(len(experts), 'numeric column')}, one for each expert of {model}"
        listed = f"found {len(found)}: {shorten(Words(', '.join(found)), 200)}"
        raise StreamError(f"a table with {columns}, was expected; {listed}", path=opened.name)
    return found


def _require_numbers(model: str, learner: Any, first_id: int | None) -> None:
    """Refuse a model that does not take the numbered features of libsvm text."""
    instead = {"decisions": "chooses paths", "portfolios": "divides wealth among assets"}
    role = getattr(learner, "role", "")
    if role in instead:
        wanted = "a model of examples or of forecasts was expected"
        raise ModelFileError(f"{model}: {wanted}; this {type(learner).__name__} {instead[role]}")
    _require_positions(model, learner)
    _require_numbering(model, learner, first_id)


def _require_numbering(model: str, learner: Any, first_id: int | None) -> None:
    """Refuse to guess how the ids of a file and the columns that the model has learned belong together."""
    state = learner.state()
    if first_id is None and not _by_id(state) and _has_learned(state):
        raise ModelFileError(
            f"{model}: has learned from arrays, whose columns are counted from 0; say with --first-id 0 or --first-id 1"
            " which id is that of the first column (0 for a model of afterwit run that an earlier version has saved)"
        )
    if first_id is not None and _by_id(state):
        raise ModelFileError(f"{model}: has learned the ids of libsvm text; leave out --first-id {first_id}")


def _parts(state: Any) -> list[Any]:
    """The states of the learners inside a learner, or its own."""
    return [each for name in ("learners", "members") for each in state.get(name, ())] or [state]


def _by_id(state: Any) -> bool:
    return any(each.get("by_id", False) for each in _parts(state))


def _has_learned(state: Any) -> bool:
    """Whether some learner has learned something of columns."""
    kept = ("weights", "coefficients")
    return any(each.get("rounds", 0) > 0 and any(name in each for name in kept) for each in _parts(state))


def _require_positions(model: str, learner: Any) -> None:
    """Refuse a learner whose examples were not rows of numbered features."""
    state = learner.state()
    for each in state.get("learners", [state]):
        if each.get("names") is not None or each.get("form") == "named":
            raise ModelFileError(
                f"{model}: the features of this model have names, but the features of a libsvm file are numbers"
            )
        if each.get("form") in ("texts", "objects"):
            kind = "strings" if each["form"] == "texts" else "Python objects"
            raise ModelFileError(f"{model}: this model takes {kind}, but a libsvm file has rows of numbers")
