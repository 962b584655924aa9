"""Races on a cluster: the learners are divided among the workers, each of which reads the whole source.

Learners of a race have nothing to do with each other. So the result is that of `afterwit.race` to the bit, but for the
times, however many workers there are.

>>> import numpy as np
>>> from afterwit.cluster import Here
>>> X, y = np.vstack([np.eye(3)] * 4), np.tile([1, -1, 1], 4)
>>> found = sweep("sgd", {"rate": [0.5, 1.0], "intercept": [True, False]}, X, y=y, client=Here())
>>> [(row["learner"], row["error"]) for row in found.leaderboard()][:2]
[('rate=0.5, intercept=False', 0.08333333333333333), ('rate=1.0, intercept=False', 0.08333333333333333)]
"""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from afterwit.cluster.whole import refuse_collections, whole
from afterwit.cluster.work import PATIENCE, work_on
from afterwit.data import checks
from afterwit.data.labels import Labels
from afterwit.errors import Words, counted, invalid, shorten, unknown_option
from afterwit.races.entries import Entry, entry_of, learner_named, run
from afterwit.races.race import Race, at_the_start, named

SETTINGS = "a dict of options with the values to try, such as {'rate': [0.1, 1.0]}"


def race(
    source: Any,
    learners: Any = None,
    target: str | None = None,
    *,
    y: Any = None,
    certificates: bool = True,
    client: Any = None,
    workers: int | None = None,
    patience: float = PATIENCE,
    **reading: Any,
) -> Race:
    """Let learners play the same rounds, divided among the workers of a cluster, and keep the `Race`.

    source, learners, target, y, certificates, reading  as `afterwit.race` takes them; every worker must reach the files
    client    Dask's; if not given the current one, and else a local cluster of processes that is closed at the end.
              `Here()` is this process
    workers   how many processes a local cluster has
    patience  after so many seconds without anything happening, stop with an error

    The result equals that of `afterwit.race` to the bit, but for the times. Certificates are made where the learners
    are. If a source cannot be read, no learner has learned anything.
    """
    patience = checks.positive_number("patience", patience)
    refuse_collections(source)
    with work_on(client, workers, patience) as work, at_the_start(source, learners, target, y, reading) as started:
        stream, task, entries = started
        shard, data = whole(stream, source, work)
        count = min(len(entries), work.workers)
        parts = [list(range(len(entries)))[k::count] for k in range(count)]
        tasks = [
            work.submit(
                f"play-{k}", _ran, shard, data, {entries[i].name: entries[i].learner for i in part}, certificates
            )
            for k, part in enumerate(parts)
        ]
        what = f"{counted(len(entries), 'learner')} on {shorten(named(stream))}"
        unlabelled = 0
        made: dict[int, Entry] = {}
        for k, (without, found) in work.each(tasks, what):
            unlabelled = without
            made |= dict(zip(parts[k], found, strict=True))
        for i, entry in enumerate(entries):
            _take(entry, made[i])
        return Race(named(stream), task, entries, unlabelled)


def sweep(
    learner: Any,
    settings: Mapping[str, Sequence[Any]],
    source: Any,
    target: str | None = None,
    *,
    y: Any = None,
    certificates: bool = True,
    client: Any = None,
    workers: int | None = None,
    patience: float = PATIENCE,
    **reading: Any,
) -> Race:
    """Let one learner play a source with each combination of settings: a `race` of all of them.

    learner   a learner, its class or its name; the options that are not in ``settings`` stay as they are
    settings  the values to try of each option: {"rate": [0.1, 1.0], "intercept": [True, False]} are four learners,
              which are named by their settings

    All else is as `race` takes it. The best setting afterwards is no promise: choosing it while it learns is what a
    committee does.
    """
    made = {name: _with(learner, chosen) for name, chosen in _combinations(settings).items()}
    how: dict[str, Any] = {"y": y, "certificates": certificates, "client": client, "workers": workers}
    return race(source, made, target, **how, patience=patience, **reading)


def _combinations(settings: Any) -> dict[str, dict[str, Any]]:
    """Every combination by its name."""
    if not isinstance(settings, Mapping) or not settings:
        raise invalid("settings", SETTINGS, settings)
    for option, values in settings.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not len(values):
            raise invalid(f"settings[{option!r}]", "a list of the values to try", values)
    found: dict[str, dict[str, Any]] = {}
    for values in itertools.product(*settings.values()):
        chosen = dict(zip(settings, values, strict=True))
        name = ", ".join(f"{option}={value}" for option, value in chosen.items())
        if name in found:
            raise invalid("settings", "different values of each option", Words(f"{name} twice"))
        found[name] = chosen
    return found


def _with(learner: Any, chosen: dict[str, Any]) -> Any:
    """A fresh learner of this kind with these options."""
    given = learner_named(learner)
    kind = given if isinstance(given, type) else type(given)
    parameters = {} if isinstance(given, type) else getattr(given, "parameters", {})
    known = inspect.signature(kind).parameters
    for option in chosen:
        if option not in known:
            raise unknown_option(kind.__name__, option, known)
    return kind(**{**parameters, **chosen})


def _ran(shard: Any, data: Any, learners: dict[str, Any], certificates: bool) -> tuple[int, list[Entry]]:
    """Some of the learners on a worker: how many examples had no label, and what happened to each."""
    stream = shard.stream(data)
    # The scheduler may run the task again: what it was given stays as it is.
    entries = [entry_of(name, copy.deepcopy(learner), stream) for name, learner in learners.items()]
    unlabelled = run(entries, stream)
    for entry in entries if certificates else ():
        entry.certify(stream)
    return unlabelled, entries


def _take(entry: Entry, made: Entry) -> None:
    """Become what the worker made of it; its learner is the one that was given."""
    become(entry.learner, made.learner)
    vars(made.record)["_played"] = vars(entry.record)["_played"]
    for name in ("record", "total_log_loss", "seconds", "stopped", "certificate", "no_certificate"):
        setattr(entry, name, getattr(made, name))
    entry.tally = None


def become(learner: Any, made: Any) -> None:
    """Give a learner what another of its kind has learned."""
    if getattr(learner, "_undecided", False) and not made._undecided:
        learner._take_labels(Labels(made.labels))
    if hasattr(learner, "restore"):
        learner.restore(made.state())
    else:
        vars(learner).update(vars(made))
