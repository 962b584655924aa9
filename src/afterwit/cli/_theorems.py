"""A command whose subcommands are theorems: each input an option, the formula with the numbers in it as the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from afterwit.bounds import find
from afterwit.cli._said import Voice, json_option
from afterwit.core.theorem import Evaluation, Input, Theorem
from afterwit.errors import Words, invalid

#: The options of the group itself. An answer is JSON if --json stands before or after the name of the theorem.
GROUP_OPTIONS = (
    click.option("--list", "show_list", is_flag=True, help="List all theorems with statement, source and inputs."),
    json_option,
)


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


def answer(ctx: click.Context, theorems: Mapping[str, Theorem], show_list: bool, as_json: bool) -> None:
    """What the group does itself: list the theorems, or show the help if no theorem is named."""
    if show_list:
        voice = Voice(as_json)
        voice.say(listed(theorems))
        voice.finish({"theorems": [_theorem_data(theorem) for theorem in theorems.values()]})
        ctx.exit()
    if ctx.invoked_subcommand is None:
        if as_json:
            raise invalid("--json", "given together with --list or the name of a theorem", Words("--json alone"))
        click.echo(ctx.get_help())


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


def _theorem_data(theorem: Theorem) -> dict[str, Any]:
    """What is stated: ready for JSON."""
    return {
        "id": theorem.id,
        "name": theorem.name,
        "inequality": theorem.inequality,
        "formula": theorem.in_symbols,
        "citation": theorem.citation,
        "chance": theorem.chance,
        "needs": theorem.needs,
        "inputs": [_input_data(each) for each in theorem.inputs],
    }


def _input_data(each: Input) -> dict[str, Any]:
    other = each.alternative
    return {
        "name": each.name,
        "symbol": each.symbol,
        "meaning": each.meaning,
        "allowed": each.range.allowed,
        "default": each.default,
        "alternative": other and {"name": other.name, "meaning": other.meaning, "allowed": other.range.allowed},
    }


def _data(found: Evaluation) -> dict[str, Any]:
    """What is printed of a formula with numbers in it: ready for JSON."""
    return {
        "theorem": _theorem_data(found.theorem),
        "inputs": dict(found.inputs),
        "quantity": found.quantity,
        "sense": found.theorem.sense,
        "substituted": found.substituted,
        "value": found.value,
        "rounding": found.theorem.rounding,
        "vacuous": found.vacuous,
    }


def _command(theorem: Theorem) -> click.Command:
    def show(as_json: bool, **texts: str | None) -> None:
        given = {name: _number(option(name), text) for name, text in texts.items() if text is not None}
        found = theorem.evaluate(spelling=option, **given)
        group = click.get_current_context().parent
        voice = Voice(as_json or (group is not None and group.params["as_json"]))
        voice.say(str(found))
        voice.finish(_data(found))

    options: list[click.Parameter] = []
    for each in theorem.inputs:
        default = "" if each.default is None else f" (default {each.default:g})"
        options.append(_option(each.name, each.symbol, f"{each.meaning}: {each.range.allowed}{default}."))
        other = each.alternative
        if other is not None:
            instead = f"Instead of {option(each.name)}: {other.meaning}, {other.range.allowed}."
            options.append(_option(other.name, "X", instead))
    text = f"{theorem.inequality}\n\n{theorem.citation}.\n\nThis holds if {theorem.needs}."
    command = click.Command(theorem.id, callback=show, params=options, help=text, short_help=theorem.inequality)
    return json_option(command)


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
