"""The table of a search: one line for every theorem, on a terminal and in docs/evidence.md."""

import math
from collections import Counter

from proving.searching import every_theorem

HEAD = ("theorem", "of", "sequences", "recomputed", "not applicable", "broken", "closest")

PAGE = """# Evidence

<!-- Written by `make prove`: do not edit. -->

Every theorem of this package is tried on sequences that are made to break it. `make prove` searches for {seconds} seconds, or
for as long as you ask, and writes this page. It shows this search:

```sh
{command}
```

It played {played:,} sequences and judged {judged:,} certificates and formulas. {result}

- **Sequences** are random, or made to be hard: scales from 1e-12 to 1e12, ties, equal experts, duplicates, losses at the ends
  of their range, leaders that always lose, sleepers, one expert, one round, probabilities next to 0 and 1, columns of very different
  units, learners that have learned other data before, and the adversaries of `afterwit.adversaries`. Assumptions are broken on purpose:
  rounds that the learner did not learn, exceeded horizons, weak learners that are none. A sequence depends only on the seed, its
  subject and its number, so that every finding can be played again. How many fit into a time depends on the machine; `COUNT` does not.
- **Oracles** (`tests/naive*.py`) compute what happened from the data and the forecasts, in fractions or with 50 digits. They import
  nothing from this package. A certificate is wrong if it says *violated*; if it says *holds* and the true value is above the true bound;
  if its numbers are not the true ones; or if it would not notice a run that is further above the bound than rounding explains.
- **Recomputed** counts the bounds that an oracle computed as well, {recomputed:,} in all. The others are not compared. Either
  rounding alone decided what they are: equal losses, games and scores with exact ties, margins below 1e-6 of the radius. Or they are
  about the update rounds, or the budget, of a comparator that the package found.
- **Comparators.** A theorem about all comparators is judged for the one given, at the length |u| that the certificate names. Where the
  package looks for one in hindsight, solvers of our own say between what and what its margin, its loss and the bound are.
- **Not applicable** counts certificates that refused because an assumption did not hold.
- **Closest** is the largest ratio of the observed value to the bound. At 1.0000 the bound was attained; "tight" counts runs of
  an adversary on which it must be attained. A bound that holds with probability 1 - δ is judged by how often runs were above it, with an
  exact binomial test. A bound on an average is judged by the mean of that ratio.

{table}
"""


def lines_of(table):
    """One line for each theorem: its cells, as text."""
    by_theorem = {}
    for (theorem, subject), row in sorted(table.rows.items()):
        if theorem:
            by_theorem.setdefault(theorem, []).append((subject, row))
    return [line_of(key, by_theorem.get(key, [])) for key in every_theorem()]


def line_of(key, found):
    theorem = every_theorem()[key]
    about = "sample size" if theorem.asks_for == "sample size" else theorem.quantity
    name = f"{theorem.name} ({about})"
    subjects = sorted({subject.partition(",")[0] for subject, _ in found})
    return (
        name,
        ", ".join(subjects),
        f"{sum(row.sequences + row.tight for _, row in found):,}",
        f"{sum(row.recomputed for _, row in found):,}",
        f"{sum(row.refused for _, row in found):,}",
        f"{sum(sum(row.problems.values()) for _, row in found):,}",
        "; ".join(filter(None, (closest_of(found), tight_of(found), chance_of(found), mean_of(found)))),
    )


def closest_of(found):
    closest = max((row.closest for _, row in found), default=-math.inf)
    return f"{closest:.4f}" if math.isfinite(closest) else ""


def tight_of(found):
    tight = sum(row.tight for _, row in found)
    return f"tight {tight:,} times" if tight else ""


def chance_of(found):
    rows = [row for _, row in found if row.delta is not None]
    if not rows:
        return ""
    return (
        f"{sum(row.above for row in rows):,} of {sum(row.sequences for row in rows):,} above it, δ = {rows[0].delta:g}"
    )


def mean_of(found):
    runs, total = (sum(row.means[i] for _, row in found) for i in (0, 1))
    return f"mean {total / runs:.3f}" if runs else ""


def problems_of(table):
    """Every kind of finding: the theorem, the subject, how often, and the first examples."""
    for (theorem, subject), row in sorted(table.rows.items()):
        for kind, count in row.problems.most_common():
            yield theorem, subject, kind, count, row.examples[kind]


def as_text(table, everything=True):
    """The table and what was found; theorems that were not tried are left out unless ``everything`` is asked for."""
    rows = [HEAD, *(line for line in lines_of(table) if everything or line[1])]
    widths = [min(44, max(len(row[i]) for row in rows)) for i in range(len(HEAD))]
    lines = ["  ".join(_fit(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for theorem, subject, kind, count, examples in problems_of(table):
        lines += ["", f"{theorem or 'run'} of {subject}: {kind}, {count:,} times"]
        lines += [f"    {where}: {detail}" for where, detail in examples]
    total = Counter(kind for *_, kind, _, _ in problems_of(table))
    lines += ["", f"{table.played:,} sequences, {table.judged:,} judgements, {sum(total.values()):,} kinds of findings"]
    return "\n".join(lines)


def _fit(cell, width):
    return cell.ljust(width) if len(cell) <= width else cell[: width - 1] + "…"


def as_page(table, command, seconds):
    rows = [HEAD, tuple("---" for _ in HEAD), *lines_of(table)]
    shown = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    broken = sum(count for *_, count, _ in problems_of(table))
    result = "No bound was broken." if not broken else f"{broken:,} of these judgements were findings; each is a bug."
    return PAGE.format(
        command=command,
        played=table.played,
        judged=table.judged,
        recomputed=sum(row.recomputed for row in table.rows.values()),
        result=result,
        table=shown,
        seconds=seconds,
    )
