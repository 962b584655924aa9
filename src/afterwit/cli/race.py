"""afterwit race: several learners side by side on the same rows, in one pass over the data."""

from __future__ import annotations

import os
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from rich.cells import cell_len

from afterwit.cli._examples import Examples
from afterwit.cli._files import distinct_files, files_read
from afterwit.cli._learners import learner_for, learner_names, needed_task
from afterwit.cli._progress import display
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._shown import NamesOption, no_certificate_text
from afterwit.cli._source import COLUMN_OPTIONS, FILE_OPTIONS, Given, with_options
from afterwit.cli.run import MOST_BYTES_TO_REMEMBER, MOST_TO_REMEMBER, nothing_to_learn, whole_model
from afterwit.core.certificate import shown_number
from afterwit.core.moments import needs_rounds
from afterwit.core.protocol import BLOCK
from afterwit.core.record import Played
from afterwit.core.storage import save
from afterwit.errors import AfterwitError, InputError, Words, counted, invalid

#: Who takes part if nobody is named.
USUAL = {
    "binary": (
        "committee",
        "scale-free",
        "normalized-adagrad",
        "adagrad",
        "sgd",
        "passive-aggressive",
        "perceptron",
        "averaged-perceptron",
    ),
    "classes": ("multiclass-committee", "softmax-adagrad", "averaged-multiclass-perceptron", "multiclass-perceptron"),
    "regression": (
        "regression-committee",
        "online-ridge",
        "scale-free-regressor",
        "adagrad-regressor",
        "sgd-regressor",
    ),
}


@dataclass
class Runner:
    """A learner in the race, and what happened to it."""

    name: str
    learner: Any
    rounds: int = 0
    mistakes: int = 0
    squares: float = 0.0
    log_loss: float | None = None
    seconds: float = 0.0
    #: Why it had to stop, if it did.
    stopped: str = ""
    certificate: Any = None

    @property
    def error(self) -> float:
        """The error rate, or the root mean squared error."""
        if self.stopped:
            return float("inf")
        rounds = self.rounds or 1
        if getattr(self.learner, "role", "") == "regressor":
            return float((self.squares / rounds) ** 0.5)
        return self.mistakes / rounds

    def learn(self, X: Any, y: Any) -> None:
        """Learn a block, and count; a learner that diverges is out of the race."""
        learner = self.learner
        begin = time.thread_time()
        try:
            if self.log_loss is not None:
                scores = learner.learn_scores(X, y)
                predicted = np.where(scores >= 0, 1, -1)
                actual = np.where(np.asarray(y == learner.labels[1], dtype=bool), 1, -1)
                self.seconds += time.thread_time() - begin
                self.mistakes += int(np.count_nonzero(predicted != actual))
                self.log_loss += float(np.logaddexp(0.0, -actual * scores).sum())
            else:
                predicted = learner.learn_many(X, y)
                self.seconds += time.thread_time() - begin
                if getattr(learner, "role", "") == "regressor":
                    self.squares += float(((predicted - np.asarray(y, dtype=np.float64)) ** 2).sum())
                else:
                    same = np.asarray(predicted, dtype=object) == np.asarray(y, dtype=object)
                    self.mistakes += int(np.count_nonzero(~same.astype(bool)))
            self.rounds += len(y)
        except AfterwitError as error:
            self.stopped = str(error)


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
@with_options(SAYING_OPTIONS)
def race(
    files: tuple[str, ...],
    learners: str | None,
    model: str | None,
    certificate: bool,
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
    distinct_files(FILE=files_read(files, source["sql"]), model=model)
    given = Given.of(files, source)
    voice = Voice(as_json, quiet)
    names = None if learners is None else _names(learners)
    tasks = {needed_task(name)[0] for name in names or ()}
    if len(tasks) > 1:
        raise invalid("--learners", "learners for the same task", Words(", ".join(names or ())))
    with ExitStack() as stack:
        task = next(iter(tasks), None)
        stream = stack.enter_context(given.open(task, task in (None, "classes")))
        if stream.task is None:
            raise nothing_to_learn(stream, given)
        runners = []
        for name in names or USUAL[stream.task]:
            learner, _ = learner_for(stream, name, ())
            speaks = stream.task == "binary" and getattr(learner, "gives_probabilities", False)
            runners.append(Runner(name, learner, log_loss=0.0 if speaks and hasattr(learner, "learn_scores") else None))
        remember = 0 if not certificate or (stream.size or 0) > MOST_BYTES_TO_REMEMBER else MOST_TO_REMEMBER
        examples = Examples(stream, remember, _nothing, limit)
        with display(stream.name, examples.size) as shown:
            examples.on_bytes = shown.advance_to
            unlabelled = _race(runners, examples)
        if not any(runner.rounds for runner in runners) and not any(runner.stopped for runner in runners):
            raise InputError(f"{stream.name}: no example has a label")
        examples.on_bytes = _nothing
        if certificate:
            with display("computing the certificates", None):
                for runner in runners:
                    _certify(runner, examples)
    ranked = sorted(runners, key=lambda runner: runner.error)
    if model is not None and not ranked[0].stopped:
        save(whole_model(stream, ranked[0].learner), model)
    for note in stream.notes:
        voice.warn(note)
    voice.warn_of(examples.skipped)
    voice.say(
        f"{counted(len(runners), 'learner')} on {stream.name}, {counted(max(r.rounds for r in runners), 'round')}\n"
    )
    _show(ranked, stream.task, voice)
    if unlabelled:
        voice.say(f"\nwithout a label: {counted(unlabelled, 'example')}, not learned")
    for runner in ranked:
        if certificate and not runner.stopped:
            voice.say(f"\n{_wrapped(f'{runner.name}: {_certificate_line(runner)}')}")
        elif runner.stopped:
            voice.say(f"\n{_wrapped(f'{runner.name} stopped: {runner.stopped}')}")
    voice.finish(
        {"source": stream.name, "task": stream.task, "model": model, "learners": [_data(each) for each in ranked]}
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 80, subsequent_indent="  ", break_on_hyphens=False)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) < len(names) or not all(names):
        raise invalid("--learners", "different names separated by commas, such as committee,perceptron", text)
    return names


def _race(runners: list[Runner], examples: Examples) -> int:
    """One pass: every block goes to all learners, several at a time. How many rows had no label."""
    unlabelled = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool, examples.reader() as reader:
        while (block := reader.take(BLOCK)) is not None:
            X, y = block
            if y is None:
                unlabelled += X.count
                continue
            running = [runner for runner in runners if not runner.stopped]
            list(pool.map(Runner.learn, running, [X] * len(running), [y] * len(running)))
    return unlabelled


def _certify(runner: Runner, examples: Examples) -> None:
    learner = runner.learner
    if runner.stopped or not learner.theorems:
        return
    if not needs_rounds(learner):
        runner.certificate = learner.certificate()
    elif examples.complete or examples.rereadable:
        runner.certificate = Played(learner, examples).certificate(None)


def _certificate_line(runner: Runner) -> str:
    if runner.certificate is not None:
        return str(runner.certificate.line())
    if not runner.learner.theorems:
        return no_certificate_text(str(runner.learner.no_theorem_because))
    return no_certificate_text("the data can be read only once, and there is too much of it to keep")


def _show(ranked: list[Runner], task: str, voice: Voice) -> None:
    """The leaderboard, the best first."""
    metric = "RMSE" if task == "regression" else "error"
    logs = any(runner.log_loss is not None for runner in ranked)
    head = ["learner", metric, *(["log loss"] if logs else []), "time/example"]
    table = [head]
    for runner in ranked:
        shown = shown_number(runner.error) if task == "regression" else f"{runner.error:.2%}"
        log_loss = "-" if runner.log_loss is None or not runner.rounds else f"{runner.log_loss / runner.rounds:.4f}"
        each = f"{1e6 * runner.seconds / runner.rounds:.2f} µs" if runner.rounds else "-"
        table.append([runner.name, "stopped" if runner.stopped else shown, *([log_loss] if logs else []), each])
    widths = [max(cell_len(row[j]) for row in table) for j in range(len(head))]
    for row in table:
        first, *rest = row
        cells = "  ".join(f"{cell:>{max(12, width)}}" for cell, width in zip(rest, widths[1:], strict=True))
        voice.say(f"{first:<{widths[0]}}  {cells}")


def _data(runner: Runner) -> dict[str, Any]:
    regression = getattr(runner.learner, "role", "") == "regressor"
    done = runner.rounds or 1
    return {
        "learner": runner.name,
        "rounds": runner.rounds,
        "rmse" if regression else "error": None if runner.stopped else runner.error,
        "log_loss": None if runner.log_loss is None else runner.log_loss / done,
        "microseconds_per_example": 1e6 * runner.seconds / done,
        "stopped": runner.stopped or None,
        "certificate": None if runner.certificate is None else runner.certificate.to_dict(),
    }


def _nothing(*_: int) -> None:
    """For a pass that nobody watches."""
