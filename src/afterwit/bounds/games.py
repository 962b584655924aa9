"""Bounds of boosting and of self-play, as functions of numbers or arrays, which broadcast."""

from afterwit.bounds._collection import formula

boosting = formula("boosting", "samples", "gamma", "rounds")
boosting_rounds = formula("boosting-rounds", "samples", "gamma")
self_play = formula("self-play", "rounds", "row_actions", "column_actions")

__all__ = ["boosting", "boosting_rounds", "self_play"]
