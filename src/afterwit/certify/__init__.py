"""Checkers: each recomputes a run from its rounds, apart from the learner, and gathers evidence for the theorems."""
