"""Tables in which every expert has a column for each kind of outcome, with its probability."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.cells import cell_len

from afterwit.cli._advice import (
    MOST_TO_SHOW,
    Columns,
    forecasts_of,
    index_columns,
    naming_lines,
    require_rows,
    row_names,
    with_forecasts,
    write_columns,
)
from afterwit.cli._combining import Way
from afterwit.cli._leaderboard import COMBINED, EXPERT, MEAN, MIXTURE, TOTAL, Line, show_leaderboard, show_weights
from afterwit.cli._progress import display
from afterwit.cli._report import ReportFile
from afterwit.cli._results import result_files
from afterwit.cli._said import Voice
from afterwit.cli._shown import certificate_text
from afterwit.cli._source import Given
from afterwit.cli._told import about_all_rounds
from afterwit.core.aligned import to_the_left
from afterwit.core.files import new_file
from afterwit.core.registry import command_name
from afterwit.core.storage import write_model
from afterwit.data import losses
from afterwit.errors import ModelFileError, StreamError, Words, counted, invalid, shorten
from afterwit.experts.regrets import regrets_by_expert, to_the_awake
from afterwit.hindsight import best_convex_combination
from afterwit.streams._cells import MISSING_NUMBERS
from afterwit.streams.table import Table

Floats = npt.NDArray[np.float64]

#: How messages name the columns of an expert.
PLACE = "the probabilities of {name}"
#: The losses of probability vectors.
LOSSES = ("brier", "log")


def combine_vectors(
    given: Given,
    outcome: str,
    prefixes: list[str],
    texts: list[str],
    way: Way,
    top: int,
    limit: int | None,
    resume: str | None,
    model: str | None,
    predictions: str | None,
    verbose: bool,
    voice: Voice,
    page: ReportFile | None,
) -> None:
    """Combine the probabilities of the experts, each with a prefix of its own, and say what came of it."""
    old = None if resume is None else way.resumed(resume, grouped=False, vectors=True)
    if old is not None:
        prefixes = _prefixes_of(old, prefixes)
    with given.open_table() as opened, ExitStack() as files:
        # Open the result files first: a typo in a path must not cost a long run.
        model_file = files.enter_context(new_file(model)) if model is not None else None
        prediction_file = files.enter_context(new_file(predictions)) if predictions is not None else None
        # An expert may sleep in all rows that have been looked at.
        held = [name for name in opened.header if name in opened.numeric or name in opened.empty]
        numbers = [name for name in held if name.startswith(tuple(prefixes)) and name not in (outcome, *texts)]
        index = index_columns(opened, [outcome, *numbers], texts)
        with display(opened.name, opened.size) as shown:
            table = opened.read(numbers, [*index, outcome], limit, shown.advance_to)
        require_rows(table)
        outcomes, kinds = _outcomes(table, outcome, prefixes, () if old is None else tuple(map(str, old.kinds)))
        advice = vectors_of(table, prefixes, kinds)
        there = np.array([label is not None for label in outcomes])
        asleep = missing_in(advice)
        nobody = there & asleep.all(axis=1)
        if nobody.any():
            reason = "every expert's forecast is missing; remove the row, or leave its outcome empty"
            raise StreamError(reason, **table.place(int(np.argmax(nobody))))
        learner = way.of_vectors(prefixes, kinds) if old is None else old
        algorithm, loss, earlier = command_name(type(learner)), learner.parameters["loss"], learner.rounds
        before = learner.copy()
        forecasts = forecasts_of(table, outcome, learner, advice, outcomes, there, asleep, column=PLACE)
        rows = row_names(table, [outcome])
        written = {**rows, outcome: ["" if label is None else label for label in outcomes]}
        if model_file is not None:
            write_model(learner, model_file)
        if prediction_file is not None:
            write_columns(prediction_file, with_vectors(written, kinds, forecasts))
    voice.warn_of(table.left_out)
    if not voice.answers and page is None:
        return
    advice, past, made = advice[there], [kinds.index(label) for label in outcomes[there]], forecasts[there]
    rounds = counted(len(past), "round") + (f" after {earlier:,} earlier ones" if earlier else "")
    by = counted(len(prefixes), "expert")
    what = f"probabilities of {outcome} by {by}, {rounds}, {loss} loss"
    voice.say(f"{algorithm} on {table.name}: {what}", "bold")
    voice.say(f"outcomes: {shorten(Words(', '.join(kinds)), 90)}")
    own, lost = _losses_of(loss, made, np.array(past)), _losses_of(loss, advice, np.array(past)[:, np.newaxis])
    lines = _leaderboard(loss, prefixes, algorithm, advice, past, own, lost)
    show_leaderboard(lines, len(past), top, voice)
    show_weights(learner, voice)
    # What it was in earlier rounds, the certificate says.
    largest = None if earlier else _largest_regret(own, lost, prefixes, np.flatnonzero(there))
    if largest is not None:
        after = f"after {counted(largest['rounds'], 'round')} (row {largest['row']:,})"
        voice.say(f"largest regret over time: {largest['regret']:.4f}, {after}, to {largest['expert']}")
    missing = np.flatnonzero(~there).tolist()
    if missing:
        voice.say(f"\nforecasts for {counted(len(missing), 'row')} without {outcome}:")
        show_vectors(rows, missing, kinds, forecasts, voice)
    voice.say()
    with display("computing the certificate"):
        certificate = learner.certificate(*([] if earlier else [advice, [kinds[k] for k in past]]))
    if earlier:
        voice.say(about_all_rounds(earlier))
    voice.say_section(certificate_text(certificate, verbose))
    found: dict[str, Any] = {
        "source": table.name,
        "outcome": outcome,
        "kinds": list(kinds),
        "algorithm": algorithm,
        "loss": loss,
        "rounds": len(past),
        **({"earlier_rounds": earlier} if earlier else {}),
        "experts": prefixes,
        "leaderboard": [line.to_dict() for line in lines],
        "weights": dict(zip(prefixes, learner.weights.tolist(), strict=True)),
        "largest_regret": largest,
        "rows_without_outcome": [row + 1 for row in missing],
        "forecasts": with_vectors(
            {name: [cells[row] for row in missing] for name, cells in rows.items()}, kinds, forecasts[missing]
        ),
        "certificate": certificate.to_dict(),
    }
    if model is not None:
        found["model"] = model
    if page is not None:
        from afterwit.cli._report_parts import vectors_part

        parts = [vectors_part(before, advice, [kinds[k] for k in past], certificate)]
        page.write(f"{algorithm} on {os.path.basename(table.name)}", parts, voice, found, what)
    voice.finish(found)


# ---------------------------------------------------------------------- columns


def _prefixes_of(learner: Any, prefixes: list[str]) -> list[str]:
    """The experts of the model that goes on, in its order; those that are named are the same."""
    if not all(isinstance(kind, str) for kind in learner.kinds):
        kinds = shorten(Words(", ".join(map(str, learner.kinds))), 60)
        raise ModelFileError(f"the kinds of outcomes of the model are numbers, {kinds}; those of a table are names")
    there = [str(name) for name in learner.experts]
    if set(prefixes) != set(there):
        allowed = f"the experts of the model that goes on, {shorten(Words(', '.join(there)), 200)}"
        raise invalid("--prefix", allowed, Words(", ".join(prefixes)))
    return there


def _outcomes(
    table: Table, outcome: str, prefixes: Sequence[str], known: tuple[str, ...]
) -> tuple[npt.NDArray[np.object_], tuple[str, ...]]:
    """What happened in each row, None where that is not known; and the kinds, in the order of the columns.

    ``known`` are the kinds of a model that goes on: there are no others.
    """
    cells = table.texts[outcome]
    found = np.empty(len(cells), dtype=object)
    found[:] = [None if cell.lower() in MISSING_NUMBERS else cell for cell in cells]
    kinds: dict[str, int] = {}
    for row, cell in enumerate(found):
        if cell is not None:
            kinds.setdefault(cell, row)
    for kind, row in (dict.fromkeys(known, 0) | kinds).items():
        if known and kind not in known:
            listed = shorten(Words(", ".join(known)), 200)
            raise StreamError(
                f"the outcome {shorten(kind)} is none of those of the model that goes on: {listed}", **table.place(row)
            )
        for prefix in prefixes:
            if prefix + kind not in table.names:
                is_there = prefix + kind in table.skipped
                why = "holds something else than numbers" if is_there else "is not there"
                reason = f"the column {prefix + kind}, for the outcome {shorten(kind)} of expert {prefix}, {why}"
                raise StreamError(reason, **table.place(row))
    if known and kinds:
        return found, known
    if len(kinds) < 2:
        shown = f"only {shorten(next(iter(kinds)))}" if kinds else "no outcome"
        raise StreamError(f"two or more kinds of outcomes were expected in {outcome}; found {shown}", path=table.name)
    return found, tuple(sorted(kinds, key=lambda kind: table.names.index(prefixes[0] + kind)))


def vectors_of(table: Table, prefixes: Sequence[str], kinds: Sequence[str]) -> Floats:
    """The probabilities of these experts: an array (rounds, experts, kinds)."""
    places = [[table.names.index(prefix + kind) for kind in kinds] for prefix in prefixes]
    return np.ascontiguousarray(table.values[:, places])


def missing_in(advice: Floats) -> npt.NDArray[np.bool_]:
    """Which experts have no probabilities, by rounds. One that has some of them is no sleeper."""
    return np.asarray(np.isnan(advice).all(axis=2))


def forecast_vectors(
    model: str,
    learner: Any,
    given: Given,
    predictions: str | None,
    index: list[str],
    limit: int | None,
    voice: Voice,
) -> None:
    """Forecast a table with a saved model that mixes probabilities: each row as if it came next."""
    prefixes, kinds = [str(name) for name in learner.experts], [str(kind) for kind in learner.kinds]
    columns = [prefix + kind for prefix in prefixes for kind in kinds]
    if set(columns) & set(index):
        raise invalid("--index", "columns other than those of the experts", Words(",".join(index)))
    with ExitStack() as stack:
        out = stack.enter_context(result_files(predictions=predictions, scores=None, probabilities=None)).predictions
        opened = stack.enter_context(given.open_table())
        with display(opened.name, opened.size) as shown:
            table = opened.read(columns, index_columns(opened, columns, index), limit, shown.advance_to)
        require_rows(table)
        advice = vectors_of(table, prefixes, kinds)
        forecasts = np.full((len(advice), len(kinds)), np.nan)
        awake = np.flatnonzero(~missing_in(advice).all(axis=1))
        with naming_lines(table, awake, column=PLACE):
            forecasts[awake] = learner.predict_many(advice[awake])
        # The column of the outcomes, of which nothing is known yet, names no row.
        rows = {name: cells for name, cells in row_names(table, columns).items() if any(cells)}
        if out is not None:
            write_columns(out, with_vectors(rows, kinds, forecasts))
    what = f"{counted(len(advice), 'forecast')} by {type(learner).__name__}"
    voice.say(f"{what}, which has learned {counted(learner.rounds, 'round')} of {counted(len(prefixes), 'expert')}")
    if out is None:
        show_vectors(rows, range(len(advice)), kinds, forecasts, voice)
    voice.finish(
        {
            "model": model,
            "source": table.name,
            "learner": type(learner).__name__,
            "rounds": learner.rounds,
            "experts": prefixes,
            "kinds": kinds,
            "rows": len(advice),
            "forecasts": with_vectors(rows, kinds, forecasts),
        }
    )


# ---------------------------------------------------------------------- what came of it


def _losses_of(loss: str, forecasts: Floats, outcomes: npt.NDArray[np.int64]) -> Floats:
    return losses.Loss(loss, kinds=forecasts.shape[-1]).values(forecasts, outcomes)


def _leaderboard(
    loss: str, names: Sequence[str], algorithm: str, advice: Floats, outcomes: list[int], own: Floats, lost: Floats
) -> list[Line]:
    """A line for each expert and for what they were combined to, best first."""
    asleep = np.isnan(lost)
    found = [(EXPERT, name, lost[:, i]) for i, name in enumerate(names)]
    found.append((COMBINED, algorithm, own))
    means = np.where(asleep[:, :, np.newaxis], 0.0, advice).sum(axis=1) / (~asleep).sum(axis=1)[:, np.newaxis]
    # A mean of many vectors sums to 1 but for rounding; no probability is above 1 by that.
    found.append((MEAN, "mean of the experts", _losses_of(loss, np.minimum(means, 1.0), np.array(outcomes))))
    if not asleep.any() and np.isfinite(lost).any(axis=1).all():
        with display("finding the best mixture in hindsight"):
            best = best_convex_combination(advice, outcomes, loss)
        mixed = np.minimum(np.einsum("tik,i->tk", advice, best.vector), 1.0)
        found.append((MIXTURE, "best mixture in hindsight", _losses_of(loss, mixed, np.array(outcomes))))
    lines = [_judged(kind, name, loss, losses) for kind, name, losses in found]
    return sorted(lines, key=lambda line: np.inf if np.isnan(line.mean_loss) else line.mean_loss)


def _judged(kind: str, name: str, loss: str, lost: Floats) -> Line:
    awake = lost[~np.isnan(lost)]
    mean = float(awake.mean()) if len(awake) else np.nan
    total = float(awake.sum()) if len(awake) else np.nan
    return Line(kind, name, len(awake), mean, {f"mean {loss}": mean, TOTAL: total})


def _largest_regret(own: Floats, lost: Floats, names: Sequence[str], rows: npt.NDArray[np.intp]) -> dict[str, Any]:
    """The regret at its worst moment: how large, after how many rounds, in which row, and to whom."""
    regrets = to_the_awake(regrets_by_expert(own, lost), lost)
    t, i = np.unravel_index(int(np.argmax(regrets)), regrets.shape)
    return {"regret": float(regrets[t, i]), "rounds": int(t) + 1, "row": int(rows[t]) + 1, "expert": names[int(i)]}


def with_vectors(columns: Columns, kinds: Sequence[str], forecasts: Floats) -> dict[str, Sequence[str | float]]:
    """Columns and a column for each kind after them, under names that no other column has."""
    return with_forecasts(columns, {f"forecast {kind}": forecasts[:, k] for k, kind in enumerate(kinds)})


def show_vectors(
    names: dict[str, list[str]], rows: Sequence[int], kinds: Sequence[str], forecasts: Floats, voice: Voice
) -> None:
    """The first forecasts of these rows, each with its name or its number."""
    label: Callable[[int], str] = lambda row: (  # noqa: E731
        ", ".join(cells[row] for cells in names.values() if cells[row]) or f"row {row + 1:,}"
    )
    width = max((cell_len(label(row)) for row in rows[:MOST_TO_SHOW]), default=0)
    for row in rows[:MOST_TO_SHOW]:
        there = not np.isnan(forecasts[row]).any()
        shown = [f"{kind} {p:.4f}" for kind, p in zip(kinds, forecasts[row], strict=True)] if there else ["-"]
        voice.say(f"  {to_the_left(label(row), width)}  {', '.join(shown)}")
    if len(rows) > MOST_TO_SHOW:
        voice.say(f"  and {len(rows) - MOST_TO_SHOW:,} more (--predictions OUT writes all)")
