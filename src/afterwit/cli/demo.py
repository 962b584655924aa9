"""afterwit demo: the three numbers on real data."""

from __future__ import annotations

from typing import Any

import click

from afterwit.cli._curve import CurveTable
from afterwit.cli._files import distinct_files
from afterwit.cli._report import report_file, report_option
from afterwit.cli._said import Voice, json_option
from afterwit.cli._shown import certificate_text, verbose_option
from afterwit.core.protocol import play
from afterwit.linear.perceptron import Perceptron
from afterwit.streams.arrays import ArrayStream

CLOSING = """\
What the three numbers mean
  bound      The learner cannot make more mistakes than this on these images.
             The theorem is proved for any images in any order, even an order
             chosen by an adversary. Its value depends on the images, so it
             is computed afterwards.
  happened   The mistakes that the learner made. It predicts each image before
             it sees the label.
  hindsight  The mistakes of the best fixed rule found afterwards, with all
             labels known. No learner can know this rule at the start. It
             shows how well the problem can be solved.

A hyperplane separates the 0s from the other digits, so the classical margin
bound applies to them. No such hyperplane was found for the 8s, so the margin
bound does not apply to them. The hinge bounds make no assumption about the
data and apply to both. "afterwit demo --verbose" shows all these bounds.

To learn from your own data:
  afterwit run FILE --target COLUMN    (CSV, JSON lines, Parquet, ...)"""


@click.command(short_help="Show the three numbers on real data, in a few seconds.")
@report_option
@verbose_option
@json_option
def demo(report: str | None, verbose: bool, as_json: bool) -> None:
    """Show the three numbers on real data: the scanned digits that come with scikit-learn."""
    from sklearn.datasets import load_digits

    voice = Voice(as_json)
    distinct_files(report=report)
    page = report_file(report)
    digits = load_digits()
    runs: list[dict[str, Any]] = []
    parts = []
    for digit, name in ((0, "a 0"), (8, "an 8")):
        y = [1 if target == digit else -1 for target in digits.target.tolist()]
        stream = ArrayStream(digits.data, y)
        voice.say(f"Is this scanned digit {name}?  ({len(y):,} images of 8 x 8 pixels, one at a time)", "bold")
        voice.say()
        table = CurveTable(voice, regression=False)
        table.head()
        record = play(Perceptron(), stream, on_point=table.point)
        table.end(record)
        voice.say()
        certificate = record.certificate()
        voice.say_section(f"{certificate_text(certificate, verbose)}\n")
        if page is not None:
            from afterwit.cli._report_parts import titled_part

            parts.append(titled_part(f"Is this scanned digit {name}?", record, certificate))
        runs.append({"digit": digit, "record": record.to_dict(), "certificate": certificate.to_dict()})
    voice.say(CLOSING)
    found: dict[str, Any] = {"runs": runs}
    if page is not None:
        lead = "Two questions about the scanned digits that come with scikit-learn, one image at a time."
        page.write("What was promised, what happened, what hindsight says", parts, voice, found, lead)
    voice.finish(found)
