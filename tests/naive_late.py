"""Learners whose labels come late, as slowly and plainly as possible. Nothing here comes from afterwit.

Events are ("predict", t) and ("learn", t), as `naive.delayed_events` has them. Everything is a fraction where a loss has
one, so that nothing is rounded.
"""

import math
from fractions import Fraction


def dot(w, x):
    return sum((a * Fraction(b) for a, b in zip(w, x, strict=True)), Fraction(0))


class Run:
    """What is noted of a run: what was served, in which order it was learned, and what was learned in between."""

    def __init__(self, width):
        self.w = [Fraction(0)] * width
        self.served, self.moments = {}, {}
        self.order, self.updates, self.mistakes = [], [], 0
        self.delays, self.between = [], []

    def serve(self, t, score):
        self.served[t] = score
        self.moments[t] = (len(self.order), len(self.updates))

    def learned(self, t, updated, wrong):
        rounds, updates = self.moments[t]
        self.delays.append(len(self.order) - rounds)
        if updated:
            self.between.append(len(self.updates) - updates)
            self.updates.append(len(self.order))
        self.order.append(t)
        self.mistakes += wrong

    @property
    def served_after(self):
        """Of each example, in the order of arrival, how many rounds had been learned when it was served."""
        return [self.moments[t][0] for t in self.order]

    @property
    def counts(self):
        """What a learner keeps; None where no label was late."""
        late = [d for d in self.delays if d]
        if not late:
            return None
        names = ("late", "total", "largest", "between_updates", "most_between_updates")
        return dict(
            zip(names, (len(late), sum(late), max(late), sum(self.between), max(self.between, default=0)), strict=True)
        )


def perceptron(rows, labels, events, rate=1):
    """It updates where what it served was wrong."""
    run = Run(len(rows[0]) if rows else 0)
    for event, t in events:
        if event == "predict":
            run.serve(t, dot(run.w, rows[t]))
            continue
        wrong = (1 if run.served[t] >= 0 else -1) != labels[t]
        if wrong:
            run.w = [a + Fraction(rate) * labels[t] * Fraction(b) for a, b in zip(run.w, rows[t], strict=True)]
        run.learned(t, wrong, wrong)
    return run


def margin_perceptron(rows, labels, events, margin):
    """It updates where the margin that it served is below half of rho times the length of the weights there are now."""
    run = Run(len(rows[0]) if rows else 0)
    for event, t in events:
        if event == "predict":
            run.serve(t, dot(run.w, rows[t]))
            continue
        label, score = labels[t], run.served[t]
        square, reached = sum(a * a for a in run.w), label * score
        update = square == 0 or reached < 0 or reached**2 < (Fraction(margin) / 2) ** 2 * square
        if update:
            run.w = [a + label * Fraction(b) for a, b in zip(run.w, rows[t], strict=True)]
        run.learned(t, update, (1 if score >= 0 else -1) != label)
    return run


def descent(rows, targets, events, slope, rate):
    """Steps at a constant rate by the slope at the score that was served; and what lateness cost, term by term."""
    run = Run(len(rows[0]) if rows else 0)
    run.drift, run.gradients = Fraction(0), []
    for event, t in events:
        if event == "predict":
            run.serve(t, dot(run.w, rows[t]))
            continue
        score = run.served[t]
        g = Fraction(slope(score, targets[t]))
        run.drift += g * (score - dot(run.w, rows[t]))
        run.gradients.append([g * Fraction(b) for b in rows[t]])
        run.w = [a - Fraction(rate) * b for a, b in zip(run.w, run.gradients[-1], strict=True)]
        run.learned(t, g != 0, (score >= 0) != (targets[t] > 0))
    return run


def online_svm(rows, labels, events, C, rate):
    """All weights shrink in every round; the example is added where the margin that was served is below 1."""
    run = Run(len(rows[0]) if rows else 0)
    for event, t in events:
        if event == "predict":
            run.serve(t, dot(run.w, rows[t]))
            continue
        label, margin = labels[t], labels[t] * run.served[t]
        if margin != 1:
            run.w = [(1 - Fraction(rate)) * a for a in run.w]
        if margin < 1:
            step = Fraction(rate) * Fraction(C) * label
            run.w = [a + step * Fraction(b) for a, b in zip(run.w, rows[t], strict=True)]
        run.learned(t, margin != 1, (run.served[t] >= 0) != (label > 0))
    return run


class Weights:
    """Exponential weights with square loss in [0, 1] and outcomes that come late."""

    def __init__(self, n):
        self.total, self.forecasts, self.moments = [0.0] * n, {}, {}
        self.order, self.own, self.rounds, self.delays = [], 0.0, 0, 0
        # What was served lost more than the mixture, and than the forecast, at arrival.
        self.drift, self.excess = 0.0, 0.0


def exponential_weights(advice, outcomes, events, rate):
    """``rate`` is a function of the number of rounds learned before."""
    run = Weights(len(advice[0]) if advice else 0)

    def mean(values):
        least = min(run.total)
        shares = [math.exp(-rate(run.rounds) * (lost - least)) for lost in run.total]
        return math.fsum(p * v for p, v in zip(shares, values, strict=True)) / math.fsum(shares)

    for event, t in events:
        if event == "predict":
            run.forecasts[t], run.moments[t] = mean(advice[t]), run.rounds
            continue
        losses = [(value - outcomes[t]) ** 2 for value in advice[t]]
        own = (run.forecasts[t] - outcomes[t]) ** 2
        if run.rounds > run.moments[t]:
            run.drift += max(0.0, own - mean(losses))
            run.excess += max(0.0, own - (mean(advice[t]) - outcomes[t]) ** 2)
        run.own += own
        run.delays += run.rounds - run.moments[t]
        run.total = [a + b for a, b in zip(run.total, losses, strict=True)]
        run.order.append(t)
        run.rounds += 1
    return run
