"""afterwit bound: evaluate the formula of a theorem."""

from __future__ import annotations

import click

from afterwit.bounds import BOUNDS
from afterwit.cli._source import with_options
from afterwit.cli._theorems import GROUP_OPTIONS, TheoremGroup, answer


class _Bounds(TheoremGroup):
    theorems = BOUNDS


@click.group(
    cls=_Bounds,
    invoke_without_command=True,
    subcommand_metavar="NAME [OPTIONS]",
    short_help="Calculate the bound of a theorem.",
)
@with_options(GROUP_OPTIONS)
@click.pass_context
def bound(ctx: click.Context, show_list: bool, as_json: bool) -> None:
    """Calculate the bound of the theorem NAME.

    The output is the formula, the formula with your numbers, the result, and the conditions under which the bound
    holds. Each input of the formula is an option; "afterwit bound NAME --help" lists them.
    """
    answer(ctx, BOUNDS, show_list, as_json)
