"""Losses of a forecast: by name, the pinball loss of a quantile, or your own function."""

from afterwit.data.losses import NAMES, Loss, function, get, pinball

__all__ = ["NAMES", "Loss", "function", "get", "pinball"]
