"""What a report says of one thing: its numbers, certificate, pictures, settings, and how to get it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from afterwit.core.certificate import Certificate
from afterwit.core.wording import Number
from afterwit.pictures._picture import Picture, Table


@dataclass
class Part:
    """One thing on a page. What it does not have is left out."""

    title: str
    #: One sentence under the title.
    lead: str = ""
    certificate: Certificate | None = None
    #: Why there is no certificate.
    reason: str = ""
    #: What is shown large where there is no certificate.
    numbers: Sequence[Number] = ()
    pictures: Sequence[Picture] = ()
    #: Tables of two columns by their titles: settings, the schema.
    facts: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    #: Tables of more columns by their titles.
    tables: dict[str, Table] = field(default_factory=dict)
    #: The lines of Python, or the command, that give the same again.
    again: str = ""
