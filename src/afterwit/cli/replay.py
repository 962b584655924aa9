"""afterwit replay: the log of a served model, played again."""

from __future__ import annotations

import click

from afterwit.cli._said import Voice, json_option
from afterwit.core.storage import save


@click.command(short_help="Play the log of a served model again.")
@click.argument("log")
@click.option("--model", metavar="FILE", help="Write the model to this file.")
@click.option("--at", metavar="N", type=click.IntRange(min=1), help="Stop after event N. Default: the last one.")
@json_option
def replay(log: str, model: str | None, at: int | None, as_json: bool) -> None:
    """Play LOG again, which a service wrote: JSON lines, or Parquet if its name ends in .parquet.

    The model is the same as the one that is served, byte for byte. Every prediction in the log is compared with what
    the model gives; if one differs, the exit code is 1.
    """
    from afterwit.serve.exporting import read_exported
    from afterwit.serve.replay import replay as play

    found = play(read_exported(log), log, at)
    if model is not None:
        save(found.hosted.model, model)
    voice = Voice(as_json)
    for line in str(found).splitlines():
        voice.say(line)
    voice.finish(
        {
            "events": found.hosted.n,
            "rounds": found.hosted.learner.rounds,
            "predictions": found.served,
            "different": [n for n, _, _ in found.different],
            "totals": found.hosted.progress.totals(),
        }
    )
    if found.different:
        raise SystemExit(1)
