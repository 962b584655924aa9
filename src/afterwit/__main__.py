"""``python -m afterwit``."""

from afterwit.cli import main

main()
