"""What the reports of the commands say of runs, games and forecasts: more than the things themselves know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from afterwit.cli._combining import Combined, template_of
from afterwit.core.certificate import Certificate, shown_number
from afterwit.errors import Words, counted, shorten
from afterwit.experts.record import play
from afterwit.pictures._part import Part
from afterwit.pictures._parts import Certified, part_of, schema_rows, settings_of
from afterwit.pictures._picture import Table

#: Of many groups, how many have a part of their own.
MOST_GROUPS = 3
#: How many pictures these have: the most telling ones.
MOST_PICTURES = 4
#: How many groups are listed.
MOST_LISTED = 100


def titled_part(title: str, thing: Any, certificate: Certificate) -> Part:
    """The part of a thing under a title of its own, where the page says how it was made."""
    part = part_of(thing, (certificate, ""))
    return replace(part, title=title, again="")


def run_part(record: Any, certified: Certified, learner: Any, stream: Any, found: dict[str, Any]) -> Part:
    """The part of a run: what it has read and learned, and how well it predicted another file."""
    part = part_of(record, certified)
    labels = "" if stream.labels is None else ", ".join(map(str, stream.labels))
    rows = [("source", stream.name), ("predicts", "numbers" if stream.task == "regression" else f"labels {labels}")]
    if found["skipped"]:
        rows.append(("left out", f"{counted(found['skipped'], 'row')} that could not be read"))
    if "hashed" in found:
        rows.append(("hashed", stream.schema.hash.describe()))
    if "test" in found:
        shown = [(name.replace("_", " "), value) for name, value in found["test"].items() if value is not None]
        rows.append(("on the test file", ", ".join(f"{name} {shown_number(value)}" for name, value in shown)))
    facts = {"Data": rows, "Settings": [*settings_of(learner), *part.facts["Settings"]]}
    # What the record knows of its learner is known better here.
    facts["Settings"] = list(dict(facts["Settings"]).items())
    if stream.schema.columns is not None:
        facts["Columns"] = schema_rows(stream.schema)
    return replace(part, facts=facts, again="")


def race_part(race: Any, stream: Any) -> Part:
    """The part of a race, with what it has read."""
    part = part_of(race)
    facts = {"Data": [("source", stream.name)], **part.facts}
    if stream.schema.columns is not None:
        facts["Columns"] = schema_rows(stream.schema)
    return replace(part, facts=facts, again="")


def game_part(
    solution: Any,
    certificate: Certificate | None,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    top: int,
) -> Part:
    """The part of a game, with the names that the file has."""
    part = part_of(
        solution.named(rows, columns), (certificate, "" if certificate is not None else solution.no_theorem_because)
    )
    named = [line.strip().partition("  ") for line in solution.describe(rows, columns, top).splitlines()[1:]]
    sections = [(head, text.strip()) for head, _, text in named if head != "rounds"]
    facts = {"Solution": [*sections, ("rounds", f"{solution.rounds:,}")]}
    return replace(part, facts=facts, again="")


def parts_of(combined: Combined, column: str | None) -> Iterator[Part]:
    """The parts about the forecasts of one target: of intervals a second one, of groups one for each of the worst."""
    certificate, _ = combined.certificate()
    there = combined.there
    settings = {"Settings": settings_of(template_of(combined.learner))}
    if column is not None:
        yield from _groups(combined, column, certificate, settings)
        if combined.intervals is not None:
            yield _intervals(combined)
        return
    record = play(combined.before, combined.advice[there], combined.outcomes[there])
    record = replace(record, certificate=certificate)
    part = titled_part(f"Forecasts of {combined.target}", record, certificate)
    yield replace(part, facts={**part.facts, **settings})
    if combined.intervals is not None:
        yield _intervals(combined)


def _intervals(combined: Combined) -> Part:
    """How often the intervals held the outcome, in all groups if there are."""
    made, learner = combined.certificate_of_intervals(), combined.learner
    learners = [learner] if combined.groups is None else [learner[group] for group in learner.groups]
    covered = sum(each.covered for each in learners)
    return Part(
        f"Intervals of {100 * learners[0].coverage:.6g}% around the forecasts of {combined.target}",
        f"They hold {covered:,} of {counted(learner.rounds, 'outcome')}.",
        made if combined.groups is None else made.total,
    )


def _groups(combined: Combined, column: str, certificates: Any, settings: Any) -> Iterator[Part]:
    """The sum over the groups, and those in which most happened."""
    parts = certificates.parts
    worst = sorted(parts, key=lambda group: -parts[group].observed)
    heads = (column, "rounds", certificates.total.quantity, "bound", "verdict")
    rows = [
        (
            shorten(Words(str(group)), 60),
            f"{made.rounds:,}",
            shown_number(made.observed),
            "" if made.bound is None else shown_number(made.bound),
            str(made.verdict),
        )
        for group, made in ((group, parts[group]) for group in worst[:MOST_LISTED])
    ]
    listed = "Groups" if len(worst) <= MOST_LISTED else f"The {MOST_LISTED} groups with most of it"
    lead = f"{counted(len(parts), 'group')} by {column}, each with a learner of its own."
    yield Part(
        f"Forecasts of {combined.target}",
        lead,
        certificates.total,
        pictures=[certificates.pictures()["groups"]],
        facts=settings,
        tables={listed: Table(heads, tuple(rows))},
    )
    rounds = {name: mask for name, _, mask in combined.parts()}
    for group in worst[:MOST_GROUPS]:
        before = combined.before
        learner = before[group] if group in before else before.learner.copy()
        record = play(learner, combined.advice[rounds[group]], combined.outcomes[rounds[group]])
        part = titled_part(f"{column} {group}", replace(record, certificate=certificates[group]), certificates[group])
        yield replace(part, pictures=part.pictures[:MOST_PICTURES])


def vectors_part(before: Any, advice: Any, outcomes: list[Any], certificate: Certificate) -> Part:
    """The part about probabilities of several kinds of outcomes, with the learner as it was before them."""
    settings = settings_of(before)
    record = replace(play(before, advice, outcomes), certificate=certificate)
    part = titled_part(type(before).__name__, record, certificate)
    return replace(part, facts={**part.facts, "Settings": settings})
