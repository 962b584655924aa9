"""What a report says of each kind of thing."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import afterwit
from afterwit.core.certificate import Certificate, shown_number
from afterwit.core.html import settings, shown_setting
from afterwit.core.moments import MOST_VALUES, needs_rounds
from afterwit.core.wording import Number, title
from afterwit.errors import AfterwitError, InputError, Words, counted, shorten
from afterwit.pictures import pictures
from afterwit.pictures._part import Part
from afterwit.pictures._picture import Picture, Table

#: How many experts, and choices of a player, are listed.
MOST_LISTED = 100
#: Where the bounds over time are to be had by playing again and looking back, that is done up to so many values.
MOMENT_VALUES = 90_000

#: A certificate, or None and why there is none.
Certified = tuple[Certificate | None, str]


def part_of(thing: Any, certified: Certified | None = None) -> Part:
    """The part of a page about one thing.

    certified  its certificate, if it is known already
    """
    for kind in type(thing).__mro__:
        if kind.__name__ in MAKERS and kind.__module__.startswith("afterwit."):
            return MAKERS[kind.__name__](thing, certified)
    return Part(title=type(thing).__name__, lead=str(thing).partition("\n")[0], pictures=_drawn(thing))


def _drawn(thing: Any) -> list[Picture]:
    """The pictures of a thing, none if nothing is known to be drawn of its kind."""
    try:
        return list(pictures(thing).values())
    except InputError:
        return []


def _certified(certify: Callable[[], Any]) -> Certified:
    try:
        return certify(), ""
    except AfterwitError as error:
        return None, str(error)


# ---------------------------------------------------------------------- records of `play`


def _record(record: Any, certified: Certified | None) -> Part:
    made, reason = certified or _certified(record.certificate)
    played = record._played
    learner = getattr(played, "learner", None)
    schema = getattr(getattr(played, "stream", None), "schema", None)
    if played is not None and record.passes == 1:
        # Looked at here, the moments are those of all pictures.
        again = 0 if made is None else MOMENT_VALUES if needs_rounds(learner) else MOST_VALUES
        played.moments(made, again)
    part = Part(
        title=record.learner,
        lead=f"{counted(record.rounds, 'round')}, {_total(record)}",
        certificate=made,
        reason=reason,
        numbers=[_happened(record)],
        pictures=_drawn(record),
        facts={"Settings": [*settings_of(learner), *_playing(record)]},
        again=_again(record, getattr(played, "before", None) or learner, schema),
    )
    if getattr(schema, "columns", None) is not None:
        part.facts["Columns"] = schema_rows(schema)
    return part


def _total(record: Any) -> str:
    if hasattr(record, "rmse"):
        return f"root mean squared error {shown_number(record.rmse)}"
    return f"{counted(record.mistakes, 'mistake')}, error {record.error:.2%}"


def _happened(record: Any) -> Number:
    if hasattr(record, "rmse"):
        return Number("happened", shown_number(record.rmse), "RMSE", "")
    noun = "mistake" if record.mistakes == 1 else "mistakes"
    return Number("happened", f"{record.mistakes:,}", noun, f"{record.error:.2%} of the rounds")


def settings_of(learner: Any) -> list[tuple[str, str]]:
    """A learner's name and the options that are not as usual."""
    if learner is None or not hasattr(learner, "options"):
        return []
    named = [(name, shown_setting(value, 200)) for name, value in settings(learner) if name != "n_experts"]
    return [("learner", type(learner).__name__), *named]


def _in_a_line(rows: list[tuple[str, str]]) -> str:
    """A learner and its options in one cell."""
    return "; ".join([*(value for _, value in rows[:1]), *(f"{name} {value}" for name, value in rows[1:])])


def schema_rows(schema: Any) -> list[tuple[str, str]]:
    """What becomes of every column, as `Schema.describe` says it."""
    rows: list[tuple[str, str]] = []
    for line in schema.describe().splitlines():
        head, names = line[:8].strip(), line[10:]
        if not head and rows:
            head, names = rows[-1][0], f"{rows.pop()[1]} {names}"
        rows.append((head, names))
    return rows


def _playing(record: Any) -> list[tuple[str, str]]:
    asked = getattr(record, "asked", None)
    rows = {
        "passes": f"{record.passes:,}" if record.passes > 1 else "",
        "without a label": f"{record.unlabelled:,}, predicted and not learned" if record.unlabelled else "",
        "labels asked for": "" if asked is None else f"{asked:,} of {record.rounds:,}",
    }
    return [(name, value) for name, value in rows.items() if value]


def _again(record: Any, learner: Any, schema: Any) -> str:
    passes = f", passes={record.passes}" if record.passes > 1 else ""
    lines = ["import afterwit as aw", "", f"learner = {'...' if learner is None else call_of(learner)}"]
    if getattr(schema, "columns", None) is None:
        lines.append(f"record = aw.play(learner, X, y{passes})")
    else:
        lines.append(f"stream = aw.read(source, target={schema.target!r})")
        lines.append(f"record = aw.play(aw.Model(stream.schema, learner), stream{passes})")
    return "\n".join([*lines, 'record.report("report.html")'])


def call_of(learner: Any) -> str:
    """The expression that makes a fresh learner."""
    name = type(learner).__name__
    if not hasattr(learner, "options"):
        return f"{name}(...)"
    known = "aw." if hasattr(afterwit, name) else ""
    return f"{known}{name}({', '.join(f'{key}={shorten(value, 400)}' for key, value in settings(learner))})"


def _race(race: Any, certified: Certified | None) -> Part:
    """The leaderboard, and the certificate of the winner."""
    won = race.winner
    made = won.certificate if won is not None and certified is None else (certified or (None, ""))[0]
    reason = "all learners stopped" if won is None else won.no_certificate or "it was not asked for"
    heads, *rows = race.rows()
    numbers = {row["learner"]: row for row in race.leaderboard()}
    more = [(*row, *_certified_rates(race, numbers[row[0]])) for row in rows]
    part = Part(
        title=f"Race on {os.path.basename(race.source)}",
        lead=race.result(),
        certificate=made,
        reason=reason,
        pictures=_drawn(race),
        tables={"Leaderboard": Table((*heads, "bound", "hindsight", "verdict"), tuple(more))},
        facts={
            "Stopped": [(entry.name, entry.stopped) for entry in race.entries if entry.stopped],
            "Settings": [(entry.name, _in_a_line(settings_of(entry.learner))) for entry in race.entries],
        },
        again="import afterwit as aw\n\n"
        f"race = aw.race(source, {[entry.name for entry in race.entries]!r})\n"
        'race.report("report.html")',
    )
    if made is None and won is not None:
        part.numbers = [_happened(won.record)]
    return part


def _certified_rates(race: Any, row: dict[str, Any]) -> tuple[str, str, str]:
    """The bound, hindsight and the verdict of a learner in a race, as its error is shown."""
    rates = (row["bound"], row["hindsight"])
    regression = race.task == "regression"
    bound, best = ("" if rate is None else shown_number(rate) if regression else f"{rate:,.2%}" for rate in rates)
    return bound, best, row["verdict"] or ""


# ---------------------------------------------------------------------- expert algorithms


def _expert_record(record: Any, certified: Certified | None) -> Part:
    made, reason = certified or (record.certificate, "")
    part = Part(
        title=record.learner,
        lead=f"{counted(record.rounds, 'round')}, {counted(len(record.experts), 'expert')}",
        certificate=made,
        reason=reason,
        pictures=_drawn(record),
        facts={"What happened": _forecasts(record)},
        again=f"import afterwit as aw\n\nlearner = aw.{record.learner}({len(record.experts)})\n"
        'record = aw.experts.play(learner, advice, outcomes)\nrecord.report("report.html")',
    )
    if record.rounds:
        part.tables["Experts"] = experts_table(record)
    return part


def _forecasts(record: Any) -> list[tuple[str, str]]:
    if not record.rounds:
        return []
    numbers = {"root mean square error": record.rmse, "mean absolute error": record.mae}
    rows = [("loss", f"{shown_number(record.loss)} ({shown_number(record.loss / record.rounds)} per round)")]
    rows += [(name, shown_number(value)) for name, value in numbers.items() if not math.isnan(value)]
    rows.append(("best expert", f"{record.best_expert}, regret {shown_number(record.regret)}"))
    if record.intervals is not None:
        rows.append(("in the interval", f"{record.coverage:.2%} of the outcomes"))
    return rows


def experts_table(record: Any) -> Table:
    """Each expert's rounds, mean loss and regret, and its share at the end; the best first."""
    import numpy as np

    awake = ~np.isnan(record.expert_losses)
    rounds = awake.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(awake, record.expert_losses, 0.0).sum(axis=0) / rounds
    order = np.argsort(np.where(rounds > 0, means, np.inf), kind="stable")[:MOST_LISTED].tolist()
    regrets = record._last
    shares = None if record.shares is None else record.shares[-1]
    heads = ("expert", "rounds", "mean loss", "regret to it", *(() if shares is None else ("last share",)))
    own = (f"{record.learner} (all together)", f"{record.rounds:,}", shown_number(record.loss / record.rounds), "")
    rows = [(*own, *("" for _ in heads[4:]))]
    for i in order:
        share = () if shares is None else (f"{np.nan_to_num(shares[i]):.2%}",)
        mean, regret = (shown_number(float(each)) if rounds[i] else "" for each in (means[i], regrets[i]))
        rows.append((shorten(Words(str(record.experts[i])), 60), f"{rounds[i]:,}", mean, regret, *share))
    return Table(heads, tuple(rows))


# ---------------------------------------------------------------------- games, certificates


def _solution(solution: Any, certified: Certified | None) -> Part:
    if certified is not None:
        made, reason = certified
    else:
        made, reason = None, solution.no_theorem_because or "it needs the matrix: solution.certificate(M)"
    options = f"gap={solution.wanted!r}{', maximize=True' if solution.maximize else ''}"
    sections = [(head, text) for head, text in solution._sections() if head != "rounds"]
    return Part(
        title=f"Zero-sum game of {len(solution.row_strategy):,} × {len(solution.column_strategy):,}",
        lead=f"The value is between {solution.lower:.9g} and {solution.upper:.9g}; found by {solution.method}.",
        certificate=made,
        reason=reason,
        numbers=[
            Number("bound", f"{solution.wanted:g}", "gap", "", "what was wanted"),
            Number("happened", f"{solution.gap:.3g}", "gap", "", f"after {counted(solution.rounds, 'round')}"),
        ],
        pictures=_drawn(solution),
        facts={"Solution": [*sections, ("rounds", f"{solution.rounds:,}")]},
        again=f"import afterwit as aw\n\nsolution = aw.solve_game(M, {options})\n"
        'solution.report("report.html", certificate=solution.certificate(M))',
    )


def _certificate(made: Certificate, certified: Certified | None) -> Part:
    del certified
    return Part(
        title=made.subject,
        lead=title(made).removeprefix(f"{made.subject}, "),
        certificate=made,
        pictures=_drawn(made),
        again='print(certificate.details())\ncertificate.report("report.html")',
    )


def _groups(made: Any, certified: Certified | None) -> Part:
    del certified
    return Part(
        title=made.subject,
        lead=f"{counted(len(made), 'group')}, each with a learner of its own",
        certificate=made.total,
        pictures=_drawn(made),
        again='print(certificates.details())\ncertificates.report("report.html")',
    )


#: The class of a thing -> what makes its part.
MAKERS: dict[str, Callable[[Any, Certified | None], Part]] = {
    "Record": _record,
    "RegressionRecord": _record,
    "ExpertRecord": _expert_record,
    "Race": _race,
    "GameSolution": _solution,
    "Certificate": _certificate,
    "GroupCertificates": _groups,
}
