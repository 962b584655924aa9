"""Saving and loading learners, and admitting classes of your own."""

from afterwit.core.storage import load, register, save

__all__ = ["load", "register", "save"]
