"""Networks of threshold gates."""
