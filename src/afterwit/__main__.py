"""``python -m afterwit``."""

from afterwit._start import start

start()
