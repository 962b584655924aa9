"""Expert advice: one forecast, provably nearly as good as the best of many."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from afterwit.experts import regrets
    from afterwit.experts.record import ExpertRecord, play, play_losses

__all__ = ["ExpertRecord", "play", "play_losses", "regrets"]


def __getattr__(name: str) -> Any:
    """Import these when they are first used: every algorithm imports this package."""
    if name not in __all__:
        raise AttributeError(f"module 'afterwit.experts' has no attribute {name!r}")
    module = importlib.import_module(f"afterwit.experts.{'regrets' if name == 'regrets' else 'record'}")
    value = module if name == "regrets" else getattr(module, name)
    globals()[name] = value
    return value
