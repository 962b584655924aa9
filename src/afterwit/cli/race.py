"""afterwit race: several learners side by side on the same rows, in one pass over the data."""

from __future__ import annotations

import os
import textwrap
from contextlib import ExitStack
from typing import Any

import click

from afterwit.cli._curve import FEWEST_PARTS, over_time, sparkline
from afterwit.cli._examples import Examples
from afterwit.cli._files import distinct_files, files_read
from afterwit.cli._learners import learner_for, learner_names, needed_task
from afterwit.cli._progress import display
from afterwit.cli._report import report_file, report_option
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._shown import NamesOption, no_certificate_text
from afterwit.cli._source import COLUMN_OPTIONS, FILE_OPTIONS, Given, with_options
from afterwit.cli.run import nothing_to_learn, to_remember, whole_model
from afterwit.core.aligned import GAP, aligned
from afterwit.core.certificate import shown_number
from afterwit.core.storage import save
from afterwit.errors import InputError, Words, counted, invalid
from afterwit.races.entries import USUAL, Entry, entry_of, run
from afterwit.races.race import NARROWEST, Race

#: How wide the error over time is beside the leaderboard.
MOST_MARKS = 20


@click.command(short_help="Compare learners side by side on the same data.")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option(
    "--learners",
    cls=NamesOption,
    names=learner_names,
    metavar="A,B,...",
    help="Who takes part. Default: the usual ones for the task. Any of:",
)
@with_options(COLUMN_OPTIONS)
@with_options(FILE_OPTIONS)
@click.option("--model", metavar="OUT", help="Save the model of the winner to OUT.")
@click.option(
    "--certificate/--no-certificate",
    default=True,
    help="Show a line of the certificate of each. Large files are read again for it.",
)
@report_option
@with_options(SAYING_OPTIONS)
def race(
    files: tuple[str, ...],
    learners: str | None,
    model: str | None,
    certificate: bool,
    report: str | None,
    limit: int | None,
    as_json: bool,
    quiet: bool,
    **source: Any,
) -> None:
    """Let several learners learn FILE side by side, each from its beginning, in one pass.

    The data is read and parsed once. The leaderboard has the error of the predictions made before each label was seen,
    the log loss of learners with probabilities, the time per example, and the certificate in one line. The best one
    afterwards is no promise: choosing it is what the committee does while it learns.
    """
    distinct_files(FILE=files_read(files, source["sql"]), model=model, report=report)
    given = Given.of(files, source)
    voice = Voice(as_json, quiet)
    page = report_file(report)
    names = None if learners is None else _names(learners)
    tasks = {needed_task(name)[0] for name in names or ()}
    if len(tasks) > 1:
        raise invalid("--learners", "learners for the same task", Words(", ".join(names or ())))
    with ExitStack() as stack:
        task = next(iter(tasks), None)
        stream = stack.enter_context(given.open(task, task in (None, "classes")))
        if stream.task is None:
            raise nothing_to_learn(stream, given)
        examples = Examples(stream, to_remember(stream) if certificate else 0, _nothing, limit)
        entries = [entry_of(name, learner_for(stream, name, ())[0], examples) for name in names or USUAL[stream.task]]
        with display(stream.name, examples.size) as shown:
            examples.on_bytes = shown.advance_to
            shown.watch(lambda: examples.rows, lambda: _leader(entries))
            unlabelled = run(entries, examples)
        found = Race(stream.name, stream.task, entries, unlabelled)
        if not found.rounds and not any(entry.stopped for entry in entries):
            raise InputError(f"{stream.name}: no example has a label")
        if certificate:
            examples.on_bytes = _nothing
            with display("computing the certificates", len(entries), steps=True) as shown:
                for done, entry in enumerate(found.entries):
                    shown.advance_to(done)
                    entry.certify(examples)
    if model is not None and found.winner is not None:
        save(whole_model(stream, found.winner.learner), model)
    for note in stream.notes:
        voice.warn(note)
    voice.warn_of(examples.skipped)
    voice.say(found.headline(), "bold")
    voice.say()
    voice.say_table(_rows(found, voice), NARROWEST, ["bold"] if found.winner is not None else [])
    if unlabelled:
        voice.say(f"\nwithout a label: {counted(unlabelled, 'example')}, not learned")
    for entry in found.entries:
        if entry.stopped:
            voice.say(f"\n{_wrapped(f'{entry.name} stopped: {entry.stopped}', voice)}")
        elif certificate:
            voice.say(f"\n{_wrapped(f'{entry.name}: {_certificate_line(entry)}', voice)}")
    data = {**found.to_dict(), "model": model}
    if page is not None:
        from afterwit.cli._report_parts import race_part

        page.write(f"Race on {os.path.basename(stream.name)}", [race_part(found, stream)], voice, data)
    voice.finish(data)


def _rows(found: Race, voice: Voice) -> list[list[str]]:
    """The leaderboard; on a terminal with room for it, with the error of each learner over time."""
    rows = found.rows()
    room = 0 if voice.width is None or not voice.draws else voice.width - len(aligned(rows, NARROWEST)[0]) - len(GAP)
    parts = min(MOST_MARKS, room, found.rounds)
    if parts < FEWEST_PARTS:
        return rows
    drawn = [None if entry.stopped or not entry.record.rounds else entry.record.trace for entry in found.entries]
    marks = ["" if trace is None else sparkline(over_time(trace, parts, found.task == "regression")) for trace in drawn]
    return [[*row, each] for row, each in zip(rows, ["over time".rjust(parts), *marks], strict=True)]


def _wrapped(text: str, voice: Voice) -> str:
    return textwrap.fill(text, min(80, voice.width or 80), subsequent_indent="  ", break_on_hyphens=False)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) < len(names) or not all(names):
        raise invalid("--learners", "different names separated by commas, such as committee,perceptron", text)
    return names


def _certificate_line(entry: Entry) -> str:
    return no_certificate_text(entry.no_certificate) if entry.certificate is None else entry.certificate.line()


def _leader(entries: list[Entry]) -> str:
    """Who is the best one so far."""
    best = min(entries, key=lambda entry: entry.error)
    if not best.record.rounds or best.stopped:
        return ""
    return f"best {best.name} {shown_number(best.error) if best.regression else f'{best.error:.2%}'}"


def _nothing(*_: int) -> None:
    """For a pass that nobody watches."""
