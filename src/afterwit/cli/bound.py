"""afterwit bound: evaluate the formula of a theorem."""

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
@click.option("--list", "show_list", is_flag=True, help="List all theorems with statement, source and inputs.")
@click.pass_context
def bound(ctx: click.Context, show_list: bool) -> None:
    """Calculate the bound of the theorem NAME.

    The output is the formula, the formula with your numbers, the result, and the conditions under which the bound
    holds. Each input of the formula is an option; "afterwit bound NAME --help" lists them.
    """
    if show_list:
        click.echo(listed(BOUNDS))
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
