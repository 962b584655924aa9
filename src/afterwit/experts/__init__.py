"""Prediction with expert advice: one file per algorithm."""
