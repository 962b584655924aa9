"""Races: several learners side by side on the same rounds, in one pass over the data."""

from afterwit.races.race import Race, race

__all__ = ["Race", "race"]
