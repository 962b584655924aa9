"""A command whose subcommands are theorems: each input an option, the formula with the numbers in it as the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from afterwit.bounds import Bound, find
from afterwit.errors import invalid


class TheoremGroup(click.Group):
    """Makes the subcommand of a theorem when it is asked for."""

    theorems: Mapping[str, Bound]

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(self.theorems)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        del ctx
        return _command(find(cmd_name, self.theorems))


def option(name: str) -> str:
    """log_experts -> --log-experts."""
    return f"--{name.replace('_', '-')}"


def listed(theorems: Mapping[str, Bound]) -> str:
    """All theorems: name, statement, citation, inputs."""
    return "\n\n".join(
        f"{entry.name}\n  {entry.statement}\n  {entry.citation}\n  {_usage(entry)}" for entry in theorems.values()
    )


def _usage(entry: Bound) -> str:
    """The inputs as they are written, optional ones in brackets."""
    parts = []
    for each in entry.inputs:
        text = " | ".join(f"{option(name)} {each.symbol if name == each.name else 'X'}" for name in each.names)
        parts.append(f"[{text}]" if each.default is not None else f"({text})" if len(each.names) > 1 else text)
    return " ".join(parts)


def _command(entry: Bound) -> click.Command:
    def show(**texts: str | None) -> None:
        given = {name: _number(option(name), text) for name, text in texts.items() if text is not None}
        click.echo(entry.evaluate(spelling=option, **given))

    options: list[click.Parameter] = []
    for each in entry.inputs:
        default = "" if each.default is None else f"; {each.default:g} if not given"
        options.append(_option(each.name, each.symbol, f"{each.meaning}: {each.range.allowed}{default}."))
        other = each.alternative
        if other is not None:
            instead = f"In place of {option(each.name)}, {other.meaning}: {other.range.allowed}."
            options.append(_option(other.name, "X", instead))
    text = f"{entry.statement}\n\n{entry.citation}.\n\nIf {entry.needs}."
    return click.Command(entry.name, callback=show, params=options, help=text, short_help=entry.statement)


def _option(name: str, symbol: str, text: str) -> click.Option:
    return click.Option([option(name), name], metavar=symbol, help=text[0].upper() + text[1:])


def _number(name: str, text: str) -> Any:
    """A whole number of any size, or a float."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise invalid(name, "a number, such as 10, 0.05 or 1e-6", text) from None
