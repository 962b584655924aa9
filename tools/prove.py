"""Search for sequences that break a theorem, and print what was tried.

    python tools/prove.py --seconds 60            every theorem, for so long in all
    python tools/prove.py --count 1000000         so many sequences in all
    python tools/prove.py --only AdaHedge --at 7  play one sequence again and show what is wrong with it

A search of all subjects writes docs/evidence.md. Exit status 1 if something was found. The sequences and oracles are
in tests/proving.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from proving import report, searching  # noqa: E402
from proving.judging import Table  # noqa: E402

PAGE = ROOT / "docs" / "evidence.md"
SECONDS = 60.0


def arguments() -> Any:
    parser = argparse.ArgumentParser(description="Search for sequences that break a theorem.")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long to search in all (60)")
    parser.add_argument("--count", type=int, help="how many sequences to play in all, however long it takes")
    parser.add_argument("--seed", type=int, default=0, help="what the sequences depend on (0)")
    parser.add_argument("--workers", type=int, default=2, help="how many processes search (2)")
    parser.add_argument("--only", help="subjects whose name has this in it, such as AdaHedge")
    parser.add_argument("--at", type=int, help="play this one sequence of the subject again")
    parser.add_argument("--no-page", action="store_true", help=f"do not write {PAGE.relative_to(ROOT)}")
    given = parser.parse_args()
    for name in ("seconds", "count", "workers"):
        if getattr(given, name) is not None and not getattr(given, name) > 0:
            parser.error(f"--{name} must be a positive number; received {getattr(given, name)}")
    return given


def command_of(given: Any) -> str:
    how = f"COUNT={given.count}" if given.count is not None else f"SECONDS={given.seconds:g}"
    return f"make prove {how} SEED={given.seed}"


def main() -> int:
    given = arguments()
    searching.load()
    names = [name for name in searching.SUBJECTS if given.only is None or given.only in name]
    if not names:
        sys.exit(
            f"--only must be part of the name of a subject; received {given.only!r}; the subjects are "
            f"{', '.join(searching.SUBJECTS)}"
        )
    if given.at is not None:
        table = Table()
        for name in names:
            searching.play(table, name, given.seed, given.at)
    else:
        seconds = given.seconds if given.count is None else None
        table = searching.search(
            given.seed, count=given.count, seconds=seconds, workers=given.workers, only=given.only, progress=_progress
        )
    print(report.as_text(table, everything=given.only is None))
    if given.only is None and given.at is None and not given.no_page:
        PAGE.write_text(report.as_page(table, command_of(given), f"{SECONDS:g}"), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    return int(any(row.problems for row in table.rows.values()))


def _progress(name: str, table: Any) -> None:
    if sys.stderr.isatty():
        print(f"\r{table.played:>10,} sequences, {name:<40.40}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
