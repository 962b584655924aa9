"""afterwit token: who may ask a service for what."""

from __future__ import annotations

import time
from typing import Any

import click

from afterwit.cli._said import Voice, json_option
from afterwit.cli.serve import DATABASE


@click.group(short_help="Add, list and remove the tokens of a service.")
def token() -> None:
    """Add, list and remove the tokens of a service. A service that runs sees the change within seconds."""


@token.command()
@click.argument("name")
@click.option(
    "--scope", required=True, metavar="SCOPES", help="What it may do: predict, label, admin; several with commas."
)
@DATABASE
@json_option
def add(name: str, scope: str, database: str, as_json: bool) -> None:
    """Make a token called NAME and print it. It cannot be printed again: only its hash is kept."""
    from afterwit.serve.access import checked_scopes

    scopes = checked_scopes(scope)
    secret = _tokens(database).add(name, scopes)
    voice = Voice(as_json)
    voice.say(secret)
    voice.finish({"name": name, "scopes": sorted(scopes), "token": secret})


@token.command(name="list")
@DATABASE
@json_option
def list_(database: str, as_json: bool) -> None:
    """List the tokens by name, with their scopes."""
    found = _tokens(database).all()
    voice = Voice(as_json)
    rows = [["name", "scopes", "made"]]
    for each in found:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.made / 1e6))
        rows.append([each.name, ",".join(sorted(each.scopes)), made])
    voice.say_table(rows)
    voice.finish({"tokens": [{"name": each.name, "scopes": sorted(each.scopes), "made": each.made} for each in found]})


@token.command()
@click.argument("name")
@DATABASE
@json_option
def remove(name: str, database: str, as_json: bool) -> None:
    """Remove the token called NAME."""
    _tokens(database).remove(name)
    voice = Voice(as_json)
    voice.say(f"removed {name}")
    voice.finish({"removed": name})


def _tokens(database: str) -> Any:
    from afterwit.serve.tables import Database
    from afterwit.serve.tokens import Tokens

    opened = Database(database)
    opened.prepare()
    return Tokens(opened)
