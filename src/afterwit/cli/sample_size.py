"""afterwit sample-size: how many examples make the bound of a theorem small enough."""

from __future__ import annotations

import click

from afterwit.bounds import SAMPLE_SIZES
from afterwit.cli._theorems import TheoremGroup, listed


class _SampleSizes(TheoremGroup):
    theorems = SAMPLE_SIZES


@click.group(
    "sample-size",
    cls=_SampleSizes,
    invoke_without_command=True,
    subcommand_metavar="NAME [OPTIONS]",
    short_help="Calculate how many examples a theorem needs.",
)
@click.option("--list", "show_list", is_flag=True, help="Show all theorems: name, statement, citation, inputs.")
@click.pass_context
def sample_size(ctx: click.Context, show_list: bool) -> None:
    """Calculate the smallest number of examples for which the theorem NAME promises the error that is wanted.

    Each input is an option of its own; "afterwit sample-size NAME --help" says which.
    """
    if show_list:
        click.echo(listed(SAMPLE_SIZES))
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
