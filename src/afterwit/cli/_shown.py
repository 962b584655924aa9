"""What several commands show in the same way: certificates, and names that are not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from afterwit.core.certificate import Certificate, shown_number
from afterwit.errors import counted
from afterwit.reductions._group_certificates import GroupCertificates

#: The option of every command that prints a certificate.
verbose_option = click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Show the full certificate: the theorem, its assumptions and the other bounds.",
)


def certificate_text(certificate: Certificate | GroupCertificates, verbose: bool) -> str:
    """The three numbers and the verdict; everything else on request."""
    if verbose:
        return certificate.details()
    if isinstance(certificate, GroupCertificates):
        return f"{certificate}\n(--verbose shows the certificate of each group)"
    others = len(certificate.others)
    rest = "the theorem and its assumptions"
    if others:
        rest = f"the theorem, its assumptions and {counted(others, 'other bound')}"
    return f"{certificate}\n(--verbose shows {rest})"


def no_certificate_text(reason: str) -> str:
    """What stands in the place of a certificate."""
    return f"No certificate: {reason}."


class NamesOption(click.Option):
    """An option whose help lists the names it takes. They are looked up only when the help is shown."""

    def __init__(self, *args: Any, names: Callable[[], Iterable[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        text = self.help
        self.help = f"{text} {', '.join(sorted(self._names()))}."
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = text


def in_unit(value: float, form: str = ",.4f") -> str:
    """A number in the unit of the data; of a small one the first digits that are not 0."""
    return shown_number(value) if 0 < abs(value) < 0.01 else f"{value:{form}}"
