"""Races: several learners side by side on the same rounds, in one pass over the data."""
