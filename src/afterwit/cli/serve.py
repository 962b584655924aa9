"""afterwit serve: models behind HTTP, whose labels come late, with a log in a database as the only truth."""

from __future__ import annotations

import math
import re
import threading
from typing import Any

import click

from afterwit.errors import Words, invalid

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
DATABASE = click.option(
    "--database",
    metavar="DATABASE",
    default="afterwit.db",
    show_default=True,
    help="A file, sqlite:///FILE, or postgresql://USER@HOST/NAME.",
)


_count = click.IntRange(min=1)
#: The options that limit how much the service takes: their defaults, which are those of `Limits`, and what they are.
#: Help must be there without the packages that a service needs.
LIMITS = {
    "body": (8 << 20, "BYTES", "The largest body of a request."),
    "file": (256 << 20, "BYTES", "The largest model file."),
    "features": (10_000, "N", "Features of an example, and experts."),
    "name": (65_536, "N", "Characters of a name, an id or a text."),
    "batch": (10_000, "N", "Examples or labels in a request."),
    "waiting": (1_000_000, "N", "Examples of a model that wait for labels."),
    "models": (1_000, "N", "Models."),
}


def _limits(command: Any) -> Any:
    for name, (default, unit, text) in reversed(LIMITS.items()):
        option = click.option(f"--max-{name}", metavar=unit, type=_count, default=default, show_default=True, help=text)
        command = option(command)
    return command


@click.command(short_help="Serve models over HTTP, with labels that come late.")
@DATABASE
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen. Only loopback needs no token.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8765, show_default=True, help="0 for any free one.")
@click.option("--expire", metavar="TIME", help="Wait for a label no longer than this, such as 30d, 12h or 90m.")
@click.option("--rate", metavar="N", type=float, help="The most requests per second of each token. Default: no limit.")
@_limits
@click.option(
    "--commit-every",
    metavar="MS",
    type=click.FloatRange(0, 1_000),
    default=2.0,
    show_default=True,
    help="For how many milliseconds requests wait for others, to share a commit.",
)
@click.option("--snapshot-every", metavar="N", type=_count, default=10_000, show_default=True, help="Events, at least.")
@click.option("--log-requests", is_flag=True, help="Write a line for every request to standard error.")
@click.option("--demo", is_flag=True, help="Stream scanned digits through a model, with labels that come late.")
@click.option("--json", "as_json", is_flag=True, help="Print the address and the database as one JSON object.")
def serve(database: str, host: str, port: int, expire: str | None, rate: float | None, **given: Any) -> None:
    """Serve models over HTTP and show them on a page, whose address is printed.

    What was answered is in the database before, and is never lost. Ctrl-C or SIGTERM ends the service cleanly.
    """
    if rate is not None and not 0 < rate < math.inf:
        raise invalid("--rate", "a number above 0", rate)
    if given["demo"] and given["as_json"]:
        raise invalid("--json", "left out with --demo, which tells what it does", Words("both"))
    seconds = None if expire is None else duration("--expire", expire)
    from afterwit.serve.limits import Limits
    from afterwit.serve.start import start

    limits = Limits(rate=rate, **{name: given[f"max_{name}"] for name in LIMITS})
    start(
        database,
        host,
        port,
        limits=limits,
        expire=seconds,
        commit_every=given["commit_every"] / 1_000,
        snapshot_every=given["snapshot_every"],
        log_requests=given["log_requests"],
        as_json=given["as_json"],
        announced=begin_demo if given["demo"] else None,
    )


def begin_demo(address: str) -> None:
    """Be a caller of the service, beside it."""
    from afterwit.cli._serve_demo import play

    threading.Thread(target=play, args=(address,), name="demo", daemon=True).start()


def duration(option: str, text: str) -> float:
    """A time such as 30d as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text.strip())
    if found is None or float(found[1]) == 0:
        raise invalid(option, "a time such as 30d, 12h, 90m or 45s", text)
    return float(found[1]) * SECONDS[found[2]]
