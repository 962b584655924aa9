"""A slow, obvious oracle for committees. It imports nothing from afterwit.

The members compute in whole numbers, so that what each says is exact; AdaHedge is its figure, line by line. The mixture
is given what its members say.
"""

import math


class NaivePerceptron:
    """Figure 8.6, with or without a constant feature."""

    def __init__(self, intercept=False):
        self.intercept = intercept
        self.weights = {}

    def say(self, x):
        return 1 if sum(self.weights.get(j, 0) * value for j, value in self.entries(x)) >= 0 else -1

    def learn(self, x, y):
        if self.say(x) != y:
            for j, value in self.entries(x):
                self.weights[j] = self.weights.get(j, 0) + y * value

    def entries(self, x):
        return [*enumerate(x), *([("constant", 1)] if self.intercept else [])]


class NaiveRepeat:
    """The label of the round before."""

    def __init__(self):
        self.last = 1

    def say(self, x):
        return self.last

    def learn(self, x, y):
        self.last = y


class NaiveAdaHedge:
    """De Rooij et al. 2014, Figure 1."""

    def __init__(self, n):
        self.losses = [0.0] * n
        self.delta = 0.0

    def weights(self):
        least = min(self.losses)
        if self.delta == 0:
            raw = [1.0 if loss == least else 0.0 for loss in self.losses]
        else:
            eta = math.log(len(self.losses)) / self.delta
            raw = [math.exp(-eta * (loss - least)) for loss in self.losses]
        return [each / sum(raw) for each in raw]

    def learn(self, losses):
        weights = self.weights()
        own = sum(weight * loss for weight, loss in zip(weights, losses, strict=True))
        after = [total + loss for total, loss in zip(self.losses, losses, strict=True)]
        if self.delta == 0:
            mix = min(after) - min(self.losses)
        else:
            eta = math.log(len(losses)) / self.delta
            mix = -math.log(sum(w * math.exp(-eta * loss) for w, loss in zip(weights, losses, strict=True))) / eta
        self.delta += max(0.0, own - mix)
        self.losses = after
        return own


class NaiveFixedShare:
    """Herbster & Warmuth 1998, with the share and the rate of the default committee."""

    def __init__(self, n, share=0.001, rate=0.5):
        self.share, self.rate = share, rate
        self.p, self.losses = [1 / n] * n, [0.0] * n

    def weights(self):
        return list(self.p)

    def learn(self, losses):
        own = sum(p * loss for p, loss in zip(self.p, losses, strict=True))
        self.losses = [total + loss for total, loss in zip(self.losses, losses, strict=True)]
        raw = [p * math.exp(-self.rate * loss) for p, loss in zip(self.p, losses, strict=True)]
        self.p = [(1 - self.share) * each / sum(raw) + self.share / len(raw) for each in raw]
        return own


def committee(members, rows, labels, weighting=NaiveFixedShare):
    """(scores of the vote, mistakes, mistakes of every member, expected mistakes, weights at the end)."""
    hedge = weighting(len(members))
    scores, expected = [], 0.0
    for x, y in zip(rows, labels, strict=True):
        said = [member.say(x) for member in members]
        scores.append(sum(weight * vote for weight, vote in zip(hedge.weights(), said, strict=True)))
        for member in members:
            member.learn(x, y)
        expected += hedge.learn([0.0 if vote == y else 1.0 for vote in said])
    mistakes = sum((1 if score >= 0 else -1) != y for score, y in zip(scores, labels, strict=True))
    return scores, mistakes, hedge.losses, expected, hedge.weights()


def plurality(said, labels, weighting=NaiveFixedShare, announced=None):
    """The same for many classes, of what each member says in every round: (predictions, expected mistakes, weights)."""
    hedge = weighting(len(said))
    known, predictions, expected = list(announced or ()), [], 0.0
    for t, y in enumerate(labels):
        votes = dict.fromkeys(known, 0.0)
        for weight, answers in zip(hedge.weights(), said, strict=True):
            if known:
                votes[answers[t]] += weight
        predictions.append(max(votes, key=votes.get, default=None))
        expected += hedge.learn([0.0 if answers[t] == y else 1.0 for answers in said])
        known += [] if y in known else [y]
    return predictions, expected, hedge.weights()


def mixture(said, speaks, labels):
    """The mixture of probabilities, round after round, for rows of what members say."""
    n = len(speaks)
    weights, losses, wrong = [1 / n] * n, [0.0] * n, [0] * n
    scores, total = [], 0.0
    for t, (row, y) in enumerate(zip(said, labels, strict=True)):
        chances = []
        for i, score in enumerate(row):
            if speaks[i]:
                chance = 1 / (1 + math.exp(-max(-36.0, min(36.0, score))))
                rest = 1 / (1 + math.exp(max(-36.0, min(36.0, score))))
            else:
                right = max(0.5, (t - wrong[i] + 1) / (t + 2))
                chance, rest = (right, 1 - right) if score >= 0 else (1 - right, right)
            chances.append((chance, rest))
        positive = sum(w * chance for w, (chance, _) in zip(weights, chances, strict=True))
        negative = sum(w * rest for w, (_, rest) in zip(weights, chances, strict=True))
        scores.append(math.log(positive) - math.log(negative))
        total -= math.log(positive if y > 0 else negative)
        raw = []
        for i, (chance, rest) in enumerate(chances):
            missed = (row[i] >= 0) != (y > 0)
            loss = -math.log(chance if y > 0 else rest)
            losses[i] += loss
            wrong[i] += missed
            raw.append(weights[i] * math.exp(-(loss + missed) / 4))
        weights = [0.999 * each / sum(raw) + 0.001 / n for each in raw]
    return {"scores": scores, "weights": weights, "losses": losses, "wrong": wrong, "loss": total}
