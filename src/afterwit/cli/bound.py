"""afterwit bound: the formula of a theorem with the numbers in it, and the result."""

from __future__ import annotations

import click

from afterwit.bounds import BOUNDS
from afterwit.cli._theorems import TheoremGroup, listed


class _Bounds(TheoremGroup):
    theorems = BOUNDS


@click.group(
    cls=_Bounds,
    invoke_without_command=True,
    subcommand_metavar="NAME [OPTIONS]",
    short_help="Calculate the bound of a theorem.",
)
@click.option("--list", "show_list", is_flag=True, help="Show all theorems: name, statement, citation, inputs.")
@click.pass_context
def bound(ctx: click.Context, show_list: bool) -> None:
    """Calculate the bound of the theorem NAME: its formula, the formula with the numbers in it, and the result.

    Each input is an option of its own; "afterwit bound NAME --help" says which.
    """
    if show_list:
        click.echo(listed(BOUNDS))
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
