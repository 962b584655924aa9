"""Intervals by their definition, in plain Python, slow and obvious; the theorems in fractions."""

import math
from fractions import Fraction


def adaptive(forecasts, outcomes, coverage, rate, window):
    """Every round's (low, high), and whether it counts as missed for the level."""
    alpha, rounds = 1 - coverage, []
    for t, (forecast, outcome) in enumerate(zip(forecasts, outcomes, strict=True)):
        errors = sorted(abs(y - f) for f, y in zip(forecasts[:t], outcomes[:t], strict=True))
        if window < t:
            errors = sorted(abs(outcomes[s] - forecasts[s]) for s in range(t - window, t))
        level = alpha + rate * (alpha * t - sum(missed for _, _, missed in rounds))
        if level >= 1:
            radius, nothing = 0.0, True
        elif level <= 0 or not errors:
            radius, nothing = math.inf, False
        else:
            smallest = math.ceil((len(errors) + 1) * (1 - level))
            radius, nothing = errors[max(1, min(len(errors), smallest)) - 1], False
        low, high = forecast - radius, forecast + radius
        rounds.append((low, high, nothing or not low <= outcome <= high))
    return rounds


def tracking(forecasts, outcomes, coverage, rate, promised):
    """Every round's (low, high), and whether it counts as missed for the radius."""
    alpha, rounds, q, largest = 1 - coverage, [], promised, promised or 0.0
    for forecast, outcome in zip(forecasts, outcomes, strict=True):
        radius = math.inf if q is None else max(q, 0.0)
        low, high = forecast - radius, forecast + radius
        missed = (q is not None and q < 0) or not low <= outcome <= high
        error = abs(outcome - forecast)
        largest = max(largest, error)
        q = error if q is None else q + rate * largest * (missed - alpha)
        rounds.append((low, high, missed))
    return rounds


def growth(errors, promised):
    """R: the sum of 1 - b / b' where the largest error rises, in fractions."""
    largest, total = promised, Fraction(0)
    for error in map(Fraction, errors):
        if largest is None:
            largest = error
        elif error > largest:
            total += 1 - Fraction(largest) / error
            largest = error
    return total


def uncovered_bound(method, coverage, rate, rounds, grown=0):
    """How many rounds may be uncovered, in fractions."""
    alpha, rate, grown = Fraction(1 - coverage), Fraction(rate), Fraction(grown)
    if method == "adaptive":
        return alpha * rounds + alpha / rate + 1 - alpha
    return alpha * rounds + grown / rate + (1 - alpha) * (1 + grown)


def distance_bound(method, coverage, rate, rounds, grown=0):
    """How far the share of the uncovered rounds may be from alpha."""
    alpha, rate, grown = Fraction(1 - coverage), Fraction(rate), Fraction(grown)
    if method == "adaptive":
        return (max(alpha, 1 - alpha) + rate) / (rate * rounds)
    above = grown / rate + (1 - alpha) * (1 + grown)
    return max(above, 1 / rate + alpha * (2 + grown)) / rounds


def narrowest_width(forecasts, outcomes, covered):
    """The least w so that at least so many outcomes are within w / 2 of their forecasts."""
    errors = [abs(y - f) for f, y in zip(forecasts, outcomes, strict=True)]
    enough = [2 * radius for radius in [0.0, *errors] if sum(error <= radius for error in errors) >= covered]
    return min(enough)
