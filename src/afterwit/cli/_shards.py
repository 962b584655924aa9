"""`afterwit run` on several processes or machines: the options for shards, and the run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from afterwit.cli._curve import CurveTable
from afterwit.cli._exact import is_exact, run_exact
from afterwit.cli._learners import learner_for
from afterwit.cli._progress import display
from afterwit.cli._shown import certificate_text, no_certificate_text
from afterwit.core.files import require_writable
from afterwit.core.storage import save
from afterwit.errors import ClusterError, counted, invalid
from afterwit.streams.model import Model

if TYPE_CHECKING:
    from afterwit.cli._report import ReportFile
    from afterwit.cli._said import Voice
    from afterwit.cli._source import Given

SHARD_OPTIONS = (
    click.option("--workers", metavar="N", type=click.IntRange(min=1), help="Learn on N processes of this machine."),
    click.option("--cluster", metavar="ADDRESS", help="Learn on a Dask cluster, such as tcp://10.0.0.1:8786."),
    click.option(
        "--shards",
        metavar="N",
        type=click.IntRange(min=1),
        help="With --workers or --cluster: in how many shards the rows are. The result depends on it. Default: as "
        "many as tasks can run at a time.",
    ),
    click.option(
        "--epochs",
        metavar="N",
        type=click.IntRange(min=1),
        help="With --workers or --cluster: how often all rows are learned. Default: once.",
    ),
    click.option(
        "--mixing",
        type=click.Choice(["uniform", "rows", "mistakes"]),
        help="With --workers or --cluster: how much each shard counts when weights are averaged. Default: uniform.",
    ),
    click.option(
        "--patience",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        help="With --workers or --cluster: stop if nothing has happened for so long. Default: 600.",
    ),
)
#: The learner for a task if none is named: one whose weights can be averaged, and that needs no tuning.
DEFAULTS = {"binary": "averaged-perceptron", "classes": "averaged-multiclass-perceptron"}
#: For so many seconds a scheduler may leave a first call without an answer.
FIRST_ANSWER = 30


@dataclass(frozen=True)
class Wanted:
    """What was asked for beside the shards."""

    name: str | None
    options: tuple[str, ...]
    model: str | None
    test: str | None
    certificate: bool
    verbose: bool


@dataclass(frozen=True)
class Sharding:
    """Where to learn, and in how many shards."""

    workers: int | None
    cluster: str | None
    shards: int | None
    epochs: int
    mixing: str
    patience: float

    @classmethod
    def of(cls, values: dict[str, Any]) -> Sharding | None:
        """What was said about shards, taken out of the options of a command; None if they are not wanted."""
        names = ("workers", "cluster", "shards", "epochs", "mixing", "patience")
        said = {name: values.pop(name) for name in names}
        if said["workers"] is None and said["cluster"] is None:
            for name in names[2:]:
                if said[name] is not None:
                    raise invalid(f"--{name}", "given together with --workers or --cluster", said[name])
            return None
        if None not in (said["workers"], said["cluster"]):
            raise invalid("--workers", "left out, because the cluster has its workers", said["workers"])
        usual: dict[str, Any] = {"epochs": 1, "mixing": "uniform", "patience": 600.0}
        made: dict[str, Any] = {name: usual.get(name) if value is None else value for name, value in said.items()}
        return cls(**made)

    def refuse(
        self,
        passes: int,
        save_every: int | None,
        skip_learned: bool,
        predictions: str | None,
        scores: str | None,
        probabilities: str | None,
        limit: int | None,
        source: dict[str, Any],
    ) -> None:
        """Refuse what makes no sense where shards are learned side by side."""
        side_by_side = "because shards are learned side by side, and their rows have no common order"
        refused = {
            "--passes": (passes if passes > 1 else None, "because --epochs says how often all rows are learned"),
            "--save-every": (save_every, "because --model is saved after every epoch"),
            "--skip-learned": (skip_learned or None, side_by_side),
            "--predictions": (predictions, side_by_side),
            "--scores": (scores, side_by_side),
            "--probabilities": (probabilities, side_by_side),
            "--limit": (limit, side_by_side),
            "--order-by": (source["order_by"], side_by_side),
            "--sql": (source["sql"], "because shards are read apart; let the query write Parquet files first"),
        }
        for option, (value, why) in refused.items():
            if value is not None:
                raise invalid(option, f"left out with --workers or --cluster, {why}", value)

    @contextmanager
    def client(self) -> Iterator[Any]:
        """The cluster."""
        from afterwit.cluster.work import local, require_dask

        require_dask()
        if self.cluster is None:
            with local(self.workers) as client:
                yield client
            return
        import distributed

        try:
            client = distributed.Client(self.cluster, timeout=FIRST_ANSWER)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"--cluster {self.cluster}: there is no scheduler that answers within {FIRST_ANSWER} seconds "
                f"({type(error).__name__}); dask scheduler starts one and prints its address"
            ) from None
        with client:
            yield client

    def run(self, given: Given, old: Any, wanted: Wanted, voice: Voice, page: ReportFile | None) -> None:
        """Learn, and say what happened."""
        from afterwit.cli.run import _inside, _opened, _test, nothing_to_learn
        from afterwit.cluster.mixing import require_mixable
        from afterwit.cluster.train import train

        if wanted.model is not None:
            # A typo in the path must not cost a long run.
            require_writable(wanted.model)
        with _opened(given, old, wanted.name) as stream:
            if stream.task is None:
                raise nothing_to_learn(stream, given)
            if old is None:
                name = wanted.name if stream.schema.group is not None else wanted.name or DEFAULTS.get(stream.task)
                learner, own = learner_for(stream, name, wanted.options)
            else:
                learner, own = _inside(old)
            if is_exact(learner):
                run_exact(self, given, stream, learner, own, old, wanted, voice, page)
                return
            require_mixable(learner)
            before = learner.rounds
            with self.client() as client, display(stream.name, None, steps=True) as shown:
                voice.say(f"{own} on {stream.name}, {self._shown()}", "bold")
                voice.say()
                if stream.schema.columns is not None:
                    voice.say(f"{stream.schema.describe()}\n")
                for note in stream.notes:
                    voice.warn(note)
                table = CurveTable(voice, False)
                table.head()
                said = 0

                def progress(number: int, done: int, record: Any) -> None:
                    nonlocal said
                    shown.steps_of(self.epochs * record.shards)
                    shown.advance_to((number - 1) * record.shards + done)
                    shown.watch(lambda: record.rounds, lambda: f"error {record.error:.2%}" if record.rounds else "")
                    for point in record.curve[said:]:
                        table.point(point)
                    said = len(record.curve)

                record = train(
                    old if isinstance(old, Model) else learner,
                    stream,
                    shards=self.shards,
                    epochs=self.epochs,
                    mixing=self.mixing,
                    client=client,
                    save=wanted.model,
                    patience=self.patience,
                    on_progress=progress,
                )
                table.end(record)
                found = self._found(own, stream, record)
                if record.skipped:
                    voice.warn(f"{counted(record.skipped, 'row')} could not be read and were left out in every epoch")
                if wanted.test is not None:
                    judged = _test(record.model, wanted.test, given)
                    found["test"] = judged.to_dict()
                    for line in judged.lines():
                        voice.say(f"{wanted.test}: {line}")
                certified = self._certify(record, learner, before, wanted, voice, found, client)
        if wanted.model is not None:
            found["model"] = wanted.model
        if page is not None:
            from afterwit.cli._report_parts import run_part

            part = run_part(record, certified, learner, stream, found)
            page.write(f"{own} on {os.path.basename(stream.name)}", [part], voice, found)
        voice.finish(found)

    def _shown(self) -> str:
        where = f"the cluster at {self.cluster}" if self.workers is None else counted(self.workers, "worker")
        return f"{where}, {counted(self.epochs, 'epoch')}"

    def _found(self, own: str, stream: Any, record: Any) -> dict[str, Any]:
        return {
            "learner": own,
            "source": stream.name,
            "task": stream.task,
            "schema": stream.schema.as_data(),
            "record": record.to_dict(),
            "skipped": record.skipped,
        }

    def _certify(
        self, record: Any, learner: Any, before: int, wanted: Wanted, voice: Voice, found: dict[str, Any], client: Any
    ) -> tuple[Any, str]:
        """Print the certificate, or why there is none; a model with a schema keeps it."""
        from afterwit.cluster.checking import why_none

        if not wanted.certificate:
            return None, "it was not asked for"
        voice.say()
        why = why_none(learner)
        if before:
            why = (
                f"the model had learned {counted(before, 'round')} before this run, and a certificate is about all "
                "that it has learned"
            )
        if why:
            voice.say(no_certificate_text(why))
            found["no_certificate"] = why
            return None, why
        with display("computing the certificate"):
            made = record.certificate(client=client)
        voice.say_section(certificate_text(made, wanted.verbose))
        found["certificate"] = made.to_dict()
        if isinstance(record.model, Model) and wanted.model is not None:
            record.model.kept_certificate = {"text": str(made), **made.to_dict()}
            save(record.model, wanted.model)
        return made, ""
