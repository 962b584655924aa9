"""`afterwit run` on several processes or machines where the result is that of one: committees, and groups."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from afterwit.cli._curve import CurveTable
from afterwit.cli._progress import display
from afterwit.cli._shown import certificate_text, no_certificate_text
from afterwit.core.storage import save
from afterwit.errors import counted, invalid
from afterwit.reductions.committee import Committee
from afterwit.reductions.multiclass_committee import MulticlassCommittee
from afterwit.reductions.per_group import PerGroup
from afterwit.reductions.regression_committee import RegressionCommittee
from afterwit.streams.model import Model

if TYPE_CHECKING:
    from afterwit.cli._report import ReportFile
    from afterwit.cli._said import Voice
    from afterwit.cli._shards import Sharding, Wanted
    from afterwit.cli._source import Given


def is_exact(learner: Any) -> bool:
    """Whether its parts are divided among workers, so that the result is that of one process."""
    return isinstance(learner, (PerGroup, Committee, MulticlassCommittee, RegressionCommittee))


def run_exact(
    sharding: Sharding,
    given: Given,
    stream: Any,
    learner: Any,
    own: str,
    old: Any,
    wanted: Wanted,
    voice: Voice,
    page: ReportFile | None,
) -> None:
    """Learn, and say what happened."""
    from afterwit.cli.run import _test, whole_model
    from afterwit.cluster.committees import committee
    from afterwit.cluster.groups import groups

    grouped = isinstance(learner, PerGroup)
    why = "each group learns its rows once" if grouped else "the members of a committee learn all rows once"
    for option, value, usual in (("--epochs", sharding.epochs, 1), ("--mixing", sharding.mixing, "uniform")):
        if value != usual:
            raise invalid(option, f"left out, because {why}, in their order", value)
    model = old if isinstance(old, Model) else whole_model(stream, learner)
    before = learner.rounds
    reason = _no_certificate(learner, before, wanted)
    made: Any = None
    with sharding.client() as client, display(stream.name, None, steps=True) as shown:
        where = (
            f"the cluster at {sharding.cluster}" if sharding.workers is None else counted(sharding.workers, "worker")
        )
        each = f", one for each {stream.schema.group}" if grouped else ""
        voice.say(f"{own}{each} on {stream.name}, {where}", "bold")
        voice.say()
        if stream.schema.columns is not None:
            voice.say(f"{stream.schema.describe()}\n")
        for note in stream.notes:
            voice.warn(note)

        def progress(done: int, of: int) -> None:
            shown.steps_of(of)
            shown.advance_to(done)

        how: dict[str, Any] = {"shards": sharding.shards, "client": client, "patience": sharding.patience}
        if grouped:
            run = groups(model, stream, certificates=not reason, on_progress=progress, **how)
            record, made = run.record, run.certificates
        else:
            record = committee(model, stream, on_progress=progress, **how)
    table = CurveTable(voice, stream.task == "regression")
    table.head()
    for point in record.curve:
        table.point(point)
    table.end(record)
    found: dict[str, Any] = {"learner": own, "source": stream.name, "task": stream.task}
    found |= {"schema": stream.schema.as_data(), "record": record.to_dict()}
    if wanted.model is not None:
        save(model, wanted.model)
        found["model"] = wanted.model
    if wanted.test is not None:
        judged = _test(model, wanted.test, given)
        found["test"] = judged.to_dict()
        for line in judged.lines():
            voice.say(f"{wanted.test}: {line}")
    if not grouped and not reason:
        with display("computing the certificate"):
            made = record.certificate()
    if made is None:
        if wanted.certificate:
            voice.say()
            voice.say(no_certificate_text(reason))
            found["no_certificate"] = reason
    else:
        voice.say()
        voice.say_section(certificate_text(made, wanted.verbose))
        found["certificate"] = made.to_dict()
        if isinstance(model, Model) and wanted.model is not None:
            # Of many groups, that of their sum.
            model.kept_certificate = {"text": str(made), **getattr(made, "total", made).to_dict()}
            save(model, wanted.model)
    if page is not None:
        from afterwit.cli._report_parts import run_part

        part = run_part(record, (made, reason), learner, stream, found)
        page.write(f"{own} on {os.path.basename(stream.name)}", [part], voice, found)
    voice.finish(found)


def _no_certificate(learner: Any, before: int, wanted: Wanted) -> str:
    """Why there is no certificate; empty if there is one."""
    if not wanted.certificate:
        return "it was not asked for"
    if not learner.theorems:
        return str(learner.no_theorem_because)
    if before:
        return (
            f"the model had learned {counted(before, 'round')} before this run, and a certificate is about all that it "
            "has learned"
        )
    return ""
