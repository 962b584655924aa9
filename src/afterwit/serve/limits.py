"""How much a service takes: beyond each limit there is a clear refusal, no crash and no growth without end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a service.

    body      bytes of a request
    file      bytes of a model file that is uploaded
    features  features of an example, and experts of advice
    name      characters of the name of a feature, of an id, and of text in a record
    batch     examples or labels in a request
    waiting   examples of a model whose labels are out
    models    models
    rate      requests a second of each token, or of everybody without tokens; None for any
    """

    body: int = 8 << 20
    file: int = 256 << 20
    features: int = 10_000
    name: int = 65_536
    batch: int = 10_000
    waiting: int = 1_000_000
    models: int = 1_000
    rate: float | None = None
