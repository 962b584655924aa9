"""What `afterwit serve --demo` does beside the service: it is a caller of it, whose labels come late."""

from __future__ import annotations

import heapq
import random
import time
from typing import Any

import click

from afterwit.client import Client
from afterwit.errors import AfterwitError, counted

#: The models of the demo, by name. The perceptron has a theorem for late labels.
MODELS = {"digits-committee": "committee", "digits-perceptron": "perceptron"}
LABELS = ("other", "eight")
#: Images a second; until its label comes, up to so many others pass; so many labels never come.
PER_SECOND = 40.0
LATEST = 120
NEVER = 0.02
#: After so many images it says how it goes.
SAY_EVERY = 300


def play(address: str, per_second: float = PER_SECOND) -> None:
    """Stream the scanned digits that come with scikit-learn through the models, and say what happens."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    y = [LABELS[target == 8] for target in digits.target.tolist()]
    try:
        with Client(address) as client:
            _play(client, digits.data.tolist(), y, per_second)
    except AfterwitError as error:
        click.echo(f"demo: {error}", err=True)


def _play(client: Client, X: list[Any], y: list[str], per_second: float) -> None:
    click.echo(f"demo: is this scanned digit an 8? {counted(len(y), 'image')}, {per_second:g} a second")
    click.echo(f"demo: each label comes up to {LATEST} images later; of {NEVER:.0%} of the images it never comes")
    for model, learner in MODELS.items():
        client.create(model, learner, {"labels": list(LABELS)})
    chance = random.Random(1)
    #: What was asked and is not yet told: when it is due, and what to tell which model.
    late: list[tuple[int, str, str, str]] = []
    begun = time.monotonic()
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        due = i + chance.randint(1, LATEST)
        known = chance.random() >= NEVER
        for model in MODELS:
            key = client.predict_one(model, x)["id"]
            if known:
                heapq.heappush(late, (due, key, model, label))
        _tell(client, late, i)
        if (i + 1) % SAY_EVERY == 0:
            _say(client)
        time.sleep(max(0.0, begun + (i + 1) / per_second - time.monotonic()))
    _tell(client, late, len(y) + LATEST)
    _say(client)
    click.echo("demo: the stream has ended; the page stays open until Ctrl-C")


def _tell(client: Client, late: list[tuple[int, str, str, str]], now: int) -> None:
    """Send the labels that are due."""
    while late and late[0][0] <= now:
        _, key, model, label = heapq.heappop(late)
        client.label_one(model, key, label)


def _say(client: Client) -> None:
    for model in MODELS:
        totals = client.describe(model)["totals"]
        error = "" if totals["error"] is None else f", error {totals['error']:.1%}"
        click.echo(f"demo: {model}: {counted(totals['rounds'], 'round')}{error}, {totals['waiting']:,} waiting")
