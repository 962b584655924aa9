"""afterwit sample-size: how many examples a theorem needs."""

from __future__ import annotations

import click

from afterwit.bounds import SAMPLE_SIZES
from afterwit.cli._source import with_options
from afterwit.cli._theorems import GROUP_OPTIONS, TheoremGroup, answer


class _SampleSizes(TheoremGroup):
    theorems = SAMPLE_SIZES


@click.group(
    "sample-size",
    cls=_SampleSizes,
    invoke_without_command=True,
    subcommand_metavar="NAME [OPTIONS]",
    short_help="Calculate how many examples a theorem needs.",
)
@with_options(GROUP_OPTIONS)
@click.pass_context
def sample_size(ctx: click.Context, show_list: bool, as_json: bool) -> None:
    """Calculate the smallest number of examples for which the theorem NAME guarantees the requested error.

    Each input of the formula is an option; "afterwit sample-size NAME --help" lists them.
    """
    answer(ctx, SAMPLE_SIZES, show_list, as_json)
