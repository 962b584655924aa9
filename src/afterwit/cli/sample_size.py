"""afterwit sample-size: how many examples a theorem needs."""

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
@click.option("--list", "show_list", is_flag=True, help="List all theorems with statement, source and inputs.")
@click.pass_context
def sample_size(ctx: click.Context, show_list: bool) -> None:
    """Calculate the smallest number of examples for which the theorem NAME guarantees the requested error.

    Each input of the formula is an option; "afterwit sample-size NAME --help" lists them.
    """
    if show_list:
        click.echo(listed(SAMPLE_SIZES))
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
