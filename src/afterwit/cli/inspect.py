"""afterwit inspect: what is in a model file: schema, learner, heaviest features, certificate."""

from __future__ import annotations

from typing import Any

import click

from afterwit.cli._said import Voice, json_option
from afterwit.core.heaviest import heaviest_features
from afterwit.core.storage import load
from afterwit.errors import Words, shorten
from afterwit.streams.model import Model


@click.command(short_help="Show what is in a model file.")
@click.argument("model")
@click.option("--top", metavar="N", type=click.IntRange(min=0), default=10, show_default=True, help="Features to show.")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    help="The most memory that the model may take. Default: 256 MiB, or a hundred times the size of the file.",
)
@json_option
def inspect(model: str, top: int, max_bytes: int | None, as_json: bool) -> None:
    """Show the schema, the learner, its heaviest features by name, and the certificate of the run, if it was kept."""
    loaded = load(model, max_bytes)
    schema = loaded.schema if isinstance(loaded, Model) else None
    learner = loaded.learner if isinstance(loaded, Model) else loaded
    kept = loaded.kept_certificate if isinstance(loaded, Model) else None
    heaviest = heaviest_features(learner)
    voice = Voice(as_json)
    voice.say(f"{model}: {learner!r}", "bold")
    for name, value in _options(learner).items():
        voice.say(f"  {name} = {value}")
    if schema is not None:
        voice.say(f"\n{schema.describe(most=1_000_000)}")
    for source, pairs in heaviest.items():
        if top and pairs:
            of = f" of {source}" if source else ""
            voice.say(f"\nheaviest features{of} ({min(top, len(pairs)):,} of {len(pairs):,})")
            for name, weight in pairs[:top]:
                voice.say(f"  {weight:>14.6g}  {shorten(str(name), 80)[1:-1]}")
    if kept is not None:
        voice.say()
        voice.say_section(kept["text"])
    voice.finish(
        {
            "model": model,
            "learner": type(learner).__name__,
            "options": {name: str(value) for name, value in _options(learner).items()},
            "rounds": learner.rounds,
            "schema": None if schema is None else schema.as_data(),
            "heaviest": {
                source: [[str(name), weight] for name, weight in pairs[:top]] for source, pairs in heaviest.items()
            },
            "certificate": kept,
        }
    )


def _options(learner: Any) -> dict[str, str]:
    """The options that are not at their defaults, as they are shown."""
    return {
        # Of learners inside, their names say enough.
        name: shorten(Words("; ".join(map(str, value))) if isinstance(value, dict) else value, 76 - len(name))
        for name, value in getattr(learner, "parameters", {}).items()
        if value not in (None, False)
    }
