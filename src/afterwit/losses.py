"""Losses of a forecast: by name, the pinball loss of a quantile, Huber's loss, or your own function."""

from afterwit.data.losses import NAMES, Loss, function, get, huber, pinball

__all__ = ["NAMES", "Loss", "function", "get", "huber", "pinball"]
