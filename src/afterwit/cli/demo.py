"""afterwit demo: the three numbers on real data, in a few seconds."""

from __future__ import annotations

import click

from afterwit.core.protocol import HEADER, play
from afterwit.linear.perceptron import Perceptron
from afterwit.streams.arrays import ArrayStream

CLOSING = """\
What the three numbers mean
  promised   what a theorem guarantees for this very sequence. It holds for any images in any order, even one chosen
             by an adversary; its value here is computed afterwards, from the images and the rounds with an update.
  happened   the mistakes the learner really made, each image predicted before its label was shown.
  hindsight  the mistakes of the best fixed rule found afterwards, with every label known. Nobody could have had it
             at the time; it measures what there was to be learned.
The 0s can be separated from the other digits by a hyperplane, so that the classical margin bound applies among others.
For the 8s none was found: there the margin bound steps back; the hinge bounds, which assume nothing about the data,
remain.

Now with your own data:  afterwit run FILE        (libsvm text; see afterwit run --help)
"""


@click.command(short_help="The three numbers on real data, in a few seconds.")
def demo() -> None:
    """Show the three numbers on scanned digits that come with scikit-learn."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    for digit, name in ((0, "a 0"), (8, "an 8")):
        y = [1 if target == digit else -1 for target in digits.target.tolist()]
        stream = ArrayStream(digits.data, y)
        learner = Perceptron()
        click.echo(f"Is this scanned digit {name}?  ({len(y):,} images of 8 x 8 pixels, one after the other)\n")
        click.echo(HEADER)
        play(learner, stream, on_point=lambda point: click.echo(str(point)))
        click.echo(f"\n{learner.certificate(digits.data, y)}\n")
    click.echo(CLOSING, nl=False)
