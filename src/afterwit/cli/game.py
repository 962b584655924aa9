"""afterwit game: solve the zero-sum game of a payoff matrix."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import click

from afterwit.cli._files import distinct_files
from afterwit.cli._matrix import read_matrix
from afterwit.cli._progress import display
from afterwit.core.storage import new_file
from afterwit.errors import InputError, invalid
from afterwit.games.solve import DEFAULT, METHODS, solve_game


@click.command(short_help="Solve the zero-sum game of a payoff matrix.")
@click.argument("file")
@click.option("--gap", type=float, default=1e-3, show_default=True, help="How wide the bracket of the value may be.")
@click.option(
    "--method", metavar="NAME", default=DEFAULT, show_default=True, help=f"How to solve it: {', '.join(METHODS)}."
)
@click.option("--max-rounds", type=int, default=1_000_000, show_default=True, help="Stop after this many rounds.")
@click.option("--max-seconds", type=float, default=60.0, show_default=True, help="Stop after this time.")
@click.option("--maximize", is_flag=True, help="The payoffs are what the row player receives: he maximizes.")
@click.option("--header/--no-header", default=None, help="The first line has names (or not).")
@click.option("--row-names/--no-row-names", default=None, help="The first cell of every line is a name (or not).")
@click.option("--delimiter", metavar="CHARACTER", default=",", help="What is between two cells; 'tab' for a tab.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="How many choices to show.")
@click.option("--strategies", metavar="OUT", help="Write all choices that are played: player, name, probability.")
def game(
    file: str,
    gap: float,
    method: str,
    max_rounds: int,
    max_seconds: float,
    maximize: bool,
    header: bool | None,
    row_names: bool | None,
    delimiter: str,
    top: int,
    strategies: str | None,
) -> None:
    """Solve the zero-sum game whose payoffs are in FILE: strategies for both players, and a bracket of the value.

    FILE is CSV text, one line for each choice of the row player; plain or gzip; - for standard input. A payoff is
    what the row player pays the column player. A first line of names, without a number among
    them, and a first column of names are found by themselves.
    """
    distinct_files(FILE=file, strategies=strategies)
    character = {"tab": "\t"}.get(delimiter, delimiter)
    if len(character) != 1 or character in '"\r\n ' or character.isalnum():
        raise invalid("--delimiter", "one character such as ; or |, or tab", delimiter)
    _check(gap, method, max_rounds, max_seconds)
    with ExitStack() as files:
        target = files.enter_context(new_file(strategies)) if strategies is not None else None
        with display(f"solving {file}", None):
            matrix = read_matrix(file, character, header, row_names)
            solution = solve_game(matrix.payoffs, gap, method, max_rounds, max_seconds, maximize)
        if target is not None:
            target.write(_table(solution, matrix.rows, matrix.columns).encode())
    click.echo(solution.describe(matrix.rows, matrix.columns, top))
    if solution.theorems:
        click.echo(f"  promised  {solution.certificate(matrix.payoffs).line()}")


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
