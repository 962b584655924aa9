"""afterwit serve: models behind HTTP, whose labels come late, with a log in a database as the only truth."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from afterwit.errors import invalid

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
DATABASE = click.option(
    "--database",
    metavar="DATABASE",
    default="afterwit.db",
    show_default=True,
    help="A file, sqlite:///FILE, or postgresql://USER@HOST/NAME.",
)


@click.command(short_help="Serve models over HTTP, with labels that come late.")
@DATABASE
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at. Others than loopback need a token.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8765, show_default=True, help="0 for any free one.")
@click.option("--expire", metavar="TIME", help="Give up waiting for labels after this time, such as 30d, 12h or 90m.")
@click.option("--rate", metavar="N", type=float, help="The most requests per second of each token. Default: no limit.")
@click.option("--max-body", metavar="BYTES", type=click.IntRange(min=1), default=8 << 20, help="The largest body. Default: 8 MiB.")
@click.option("--max-file", metavar="BYTES", type=click.IntRange(min=1), default=256 << 20, help="The largest model file. Default: 256 MiB.")
@click.option("--max-features", metavar="N", type=click.IntRange(min=1), default=10_000, show_default=True, help="Features of an example, or experts.")
@click.option("--max-name", metavar="N", type=click.IntRange(min=1), default=65_536, show_default=True, help="Characters of a name, an id or a text.")
@click.option("--max-batch", metavar="N", type=click.IntRange(min=1), default=10_000, show_default=True, help="Examples or labels in a request.")
@click.option("--max-waiting", metavar="N", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Examples of a model that wait for labels.")
@click.option("--max-models", metavar="N", type=click.IntRange(min=1), default=1_000, show_default=True, help="Models.")
@click.option("--commit-every", metavar="MS", type=click.FloatRange(0, 1_000), default=2.0, show_default=True, help="How long requests wait for others to share a commit, in milliseconds.")
@click.option("--snapshot-every", metavar="N", type=click.IntRange(min=1), default=10_000, show_default=True, help="Events between two snapshots of a model.")
@click.option("--log-requests", is_flag=True, help="Write a line for every request to standard error.")
@click.option("--demo", is_flag=True, help="Stream scanned digits through a model, with labels that come late.")
def serve(database: str, host: str, port: int, expire: str | None, rate: float | None, demo: bool, **given: Any) -> None:
    """Serve models over HTTP and show them on a page, whose address is printed.

    Nothing that was answered is lost: it is in the database before. Ctrl-C or SIGTERM ends the service cleanly.
    """
    if rate is not None and not 0 < rate < math.inf:
        raise invalid("--rate", "a number above 0", rate)
    seconds = None if expire is None else duration("--expire", expire)
    from afterwit.serve.start import start

    start(database, host, port, expire=seconds, rate=rate, demo=demo, **given)


def duration(option: str, text: str) -> float:
    """A time such as 30d as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text.strip())
    if found is None or float(found[1]) == 0:
        raise invalid(option, "a time such as 30d, 12h, 90m or 45s", text)
    return float(found[1]) * SECONDS[found[2]]
