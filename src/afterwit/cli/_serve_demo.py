"""What `afterwit serve --demo` does beside the service: it is a caller of it, whose labels come late."""

from __future__ import annotations

import random
import time
from collections import deque

import click

from afterwit.client import Client
from afterwit.errors import AfterwitError

#: The models of the demo: what they are called, and what they are made of.
COMMITTEE, PERCEPTRON = "digits-committee", "digits-perceptron"
#: Images a second, and how many of them pass until a label comes: at random, up to this many.
PER_SECOND = 40.0
LATEST = 120
#: So many labels are never found out.
NEVER = 0.02


def play(address: str) -> None:
    """Stream the scanned digits that come with scikit-learn through two models, and say what happens."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    y = ["eight" if target == 8 else "other" for target in digits.target.tolist()]
    try:
        with Client(address) as client:
            _play(client, digits.data, y)
    except AfterwitError as error:
        click.echo(f"demo: {error}", err=True)


def _play(client: Client, X: object, y: list[str]) -> None:
    click.echo("demo: is this scanned digit an 8? 1,797 images, one at a time; each label comes up to 120 images later")
    labels = {"labels": ["other", "eight"]}
    client.create(COMMITTEE, "committee", labels)
    client.create(PERCEPTRON, "perceptron", labels)
