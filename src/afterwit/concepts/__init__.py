"""Concepts: learners of rules that can be read, and Radon's theorem."""
