"""A command whose subcommands are theorems: each input an option, the formula with the numbers in it as the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from afterwit.bounds import find
from afterwit.core.theorem import Theorem
from afterwit.errors import invalid


class TheoremGroup(click.Group):
    """Makes the subcommand of a theorem when it is called."""

    theorems: Mapping[str, Theorem]

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(self.theorems)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        del ctx
        return _command(find(cmd_name, self.theorems))


def option(name: str) -> str:
    """log_experts -> --log-experts."""
    return f"--{name.replace('_', '-')}"


def listed(theorems: Mapping[str, Theorem]) -> str:
    """All theorems: name, statement, citation, inputs."""
    return "\n\n".join(
        f"{theorem.id}\n  {theorem.inequality}\n  {theorem.citation}\n  {_usage(theorem)}"
        for theorem in theorems.values()
    )


def _usage(theorem: Theorem) -> str:
    """The inputs as options, optional ones in brackets."""
    parts = []
    for each in theorem.inputs:
        text = " | ".join(f"{option(name)} {each.symbol if name == each.name else 'X'}" for name in each.names)
        parts.append(f"[{text}]" if each.default is not None else f"({text})" if len(each.names) > 1 else text)
    return " ".join(parts)


def _command(theorem: Theorem) -> click.Command:
    def show(**texts: str | None) -> None:
        given = {name: _number(option(name), text) for name, text in texts.items() if text is not None}
        click.echo(theorem.evaluate(spelling=option, **given))

    options: list[click.Parameter] = []
    for each in theorem.inputs:
        default = "" if each.default is None else f" (default {each.default:g})"
        options.append(_option(each.name, each.symbol, f"{each.meaning}: {each.range.allowed}{default}."))
        other = each.alternative
        if other is not None:
            instead = f"Instead of {option(each.name)}: {other.meaning}, {other.range.allowed}."
            options.append(_option(other.name, "X", instead))
    text = f"{theorem.inequality}\n\n{theorem.citation}.\n\nThis holds if {theorem.needs}."
    return click.Command(theorem.id, callback=show, params=options, help=text, short_help=theorem.inequality)


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
