"""afterwit game: solve the zero-sum game of a payoff matrix."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import click

from afterwit.cli._files import distinct_files
from afterwit.cli._matrix import read_matrix
from afterwit.cli._progress import display
from afterwit.cli._report import report_file, report_option
from afterwit.cli._said import SAYING_OPTIONS, Voice
from afterwit.cli._shown import certificate_text, no_certificate_text, verbose_option
from afterwit.cli._source import with_options
from afterwit.core.files import new_file
from afterwit.errors import InputError, invalid, require_known
from afterwit.games.solve import DEFAULT, METHODS, solve_game


@click.command(short_help="Solve the zero-sum game of a payoff matrix.")
@click.argument("file")
@click.option("--gap", type=float, default=1e-3, show_default=True, help="Stop when the value is known up to this gap.")
@click.option(
    "--method", metavar="NAME", default=DEFAULT, show_default=True, help=f"The method. One of: {', '.join(METHODS)}."
)
@click.option("--max-rounds", type=int, default=1_000_000, show_default=True, help="Stop after this many rounds.")
@click.option("--max-seconds", type=float, default=60.0, show_default=True, help="Stop after this many seconds.")
@click.option(
    "--maximize", is_flag=True, help="The payoffs are what the row player receives: the row player maximizes."
)
@click.option(
    "--header/--no-header", default=None, help="The first line holds the column names (or not). Default: detected."
)
@click.option(
    "--row-names/--no-row-names",
    default=None,
    help="The first cell of each line is a name (or not). Default: detected.",
)
@click.option(
    "--delimiter",
    metavar="CHARACTER",
    help="The character between two cells; 'tab' for a tab. Default: comma, semicolon or tab, whichever the first line "
    "has most of.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="The number of choices to show for each player.",
)
@click.option("--strategies", metavar="OUT", help="Write both strategies to OUT as CSV: player, choice, probability.")
@report_option
@verbose_option
@with_options(SAYING_OPTIONS)
def game(
    file: str,
    gap: float,
    method: str,
    max_rounds: int,
    max_seconds: float,
    maximize: bool,
    header: bool | None,
    row_names: bool | None,
    delimiter: str | None,
    top: int,
    strategies: str | None,
    report: str | None,
    verbose: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Solve the zero-sum game in FILE: find a strategy for each player, and the value of the game.

    FILE is CSV text, plain or gzip, or - for standard input, with one line for each choice of the row player. Each
    number is what the row player pays to the column player. A header line and a first column of names are detected.
    """
    distinct_files(FILE=file, strategies=strategies, report=report)
    character = "\t" if delimiter == "tab" else delimiter
    if character is not None and (len(character) != 1 or character in '"\r\n ' or character.isalnum()):
        raise invalid("--delimiter", "one character such as ; or |, or tab", delimiter)
    require_known("method", method, METHODS)
    _check(gap, method, max_rounds, max_seconds)
    page = report_file(report)
    with ExitStack() as files:
        target = files.enter_context(new_file(strategies)) if strategies is not None else None
        with display(f"solving {file}"):
            matrix = read_matrix(file, character, header, row_names)
            solution = solve_game(matrix.payoffs, gap, method, max_rounds, max_seconds, maximize)
        if target is not None:
            target.write(_table(solution, matrix.rows, matrix.columns).encode())
    voice = Voice(as_json, quiet)
    if not voice.answers and page is None:
        return
    found: dict[str, Any] = {"source": matrix.name, **solution.to_dict()}
    found |= {"row_names": matrix.rows, "column_names": matrix.columns}
    voice.say_section(f"{solution.describe(matrix.rows, matrix.columns, top)}\n")
    certificate = None
    if solution.theorems:
        certificate = solution.certificate(matrix.payoffs)
        voice.say_section(certificate_text(certificate, verbose))
        found["certificate"] = certificate.to_dict()
    else:
        voice.say(no_certificate_text(solution.no_theorem_because))
        found["no_certificate"] = solution.no_theorem_because
    if page is not None:
        from afterwit.cli._report_parts import game_part

        part = game_part(solution, certificate, matrix.rows, matrix.columns, top)
        page.write(f"The game {os.path.basename(matrix.name)}", [part], voice, found)
    voice.finish(found)


def _check(*options: Any) -> None:
    """Try the options on the smallest game: a typo in one must not cost a long read."""
    try:
        solve_game([[0.0]], *options)
    except InputError as error:
        name, _, rest = str(error).partition(" ")
        raise InputError(f"--{name.replace('_', '-')} {rest}") from None


def _table(solution: Any, rows: Sequence[str] | None, columns: Sequence[str] | None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["player", "choice", "probability"])
    for player, strategy, names in (
        ("row", solution.row_strategy, rows),
        ("column", solution.column_strategy, columns),
    ):
        for i, probability in enumerate(strategy.tolist()):
            if probability > 0:
                writer.writerow([player, i if names is None else names[i], repr(probability)])
    return text.getvalue()
