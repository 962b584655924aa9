"""Linear classifiers: one file per algorithm, the shared loops in ``_engine``."""
