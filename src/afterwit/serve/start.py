"""From the options of the command line to a service that runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import click

from afterwit.serve.access import Access, require_token
from afterwit.serve.engine import Engine
from afterwit.serve.limits import Limits
from afterwit.serve.logs import Log
from afterwit.serve.running import address_of, bind, only_here, run
from afterwit.serve.service import Service
from afterwit.serve.tokens import Tokens


def start(
    database: str,
    host: str,
    port: int,
    *,
    limits: Limits,
    expire: float | None = None,
    commit_every: float = 0.002,
    snapshot_every: int = 10_000,
    log_requests: bool = False,
    as_json: bool = False,
    announced: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal comes.

    as_json    print the address as a JSON object, not as a sentence
    announced  is called with the address as soon as it answers
    """
    log = Log(log_requests)
    options: dict[str, Any] = {"expire": expire, "commit_every": commit_every, "snapshot_every": snapshot_every}
    engine = Engine(database, limits=limits, log=log, **options)
    with bind(host, port) as listening:
        here = only_here(listening)
        engine.database.prepare()
        tokens = Tokens(engine.database)
        if not here:
            require_token(host, tokens.all())
        log.open()
        log("starting", database=engine.database.shown, address=address_of(listening), process=os.getpid())
        engine.start()
        access = Access(tokens.all, here, limits.rate)

        def announce(address: str) -> None:
            shown = engine.database.shown
            told = f"afterwit serves {shown} at {address} (Ctrl-C stops it)"
            click.echo(json.dumps({"address": address, "database": shown}) if as_json else told)
            if announced is not None:
                announced(address)

        run(Service(engine, limits, access, log), listening, announce)
