"""Portfolios: wealth that grows provably nearly as fast as that of the best constant mixture of the assets."""

from afterwit.portfolios.relatives import relatives

__all__ = ["relatives"]
