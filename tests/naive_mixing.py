"""Iterative parameter mixing, one shard after the other, as slowly and plainly as possible. Nothing here comes from afterwit."""


def tree(values):
    while len(values) > 1:
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=False)] + values[len(values) // 2 * 2 :]
    return values[0]


def mix(shards, epochs, mixing, play, width):
    """Weights after each epoch, and (rounds, mistakes, updates) of each shard in it. ``play(w, shard)`` gives both."""
    w, weights, counts = [0.0] * width, [], []
    for _ in range(epochs):
        ends, done = zip(*(play(list(w), shard) for shard in shards), strict=False)
        c = [{"uniform": min(n, 1), "rows": n, "mistakes": k}[mixing] for n, k, _ in done]
        if len(shards) == 1:
            w = ends[0]
        elif sum(c) and any(updates for _, _, updates in done):
            w = [tree([count * end[j] for count, end in zip(c, ends, strict=False)]) / sum(c) for j in range(width)]
        weights.append(w)
        counts.append(list(done))
    return weights, counts


def dot(w, x):
    """In four running sums, as the learners add up, so that scores are the same to the bit."""
    sums = [0.0] * 4
    for k, (a, b) in enumerate(zip(w, x, strict=False)):
        sums[k % 4] += a * b
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def perceptron(w, shard):
    """The perceptron: the weights it ends with, and its rounds, mistakes and updates."""
    mistakes = 0
    for x, y in shard:
        if (1 if dot(w, x) >= 0 else -1) != y:
            mistakes += 1
            w = [a + y * b for a, b in zip(w, x, strict=False)]
    return w, (len(shard), mistakes, mistakes)


def margin_perceptron(rho):
    """The margin perceptron, which knows its length."""

    def play(w, shard):
        mistakes = updates = 0
        for x, y in shard:
            score, square = dot(w, x), sum(a * a for a in w)
            mistakes += (1 if score >= 0 else -1) != y
            if square == 0 or y * score < rho / 2 * square**0.5:
                updates += 1
                w = [a + y * b for a, b in zip(w, x, strict=False)]
        return w, (len(shard), mistakes, updates)

    return play


def hinge_descent(rate):
    """Gradient descent on the hinge loss at a constant rate."""

    def play(w, shard):
        mistakes = updates = 0
        for x, y in shard:
            score = dot(w, x)
            mistakes += (1 if score >= 0 else -1) != y
            if y * score < 1:
                updates += 1
                w = [a + rate * y * b for a, b in zip(w, x, strict=False)]
        return w, (len(shard), mistakes, updates)

    return play


def average(shards, epochs, width):
    """The mean of the hypotheses after every round of every shard and epoch, for uniform mixing, in fractions."""
    from fractions import Fraction

    w, total, rounds = [Fraction(0)] * width, [Fraction(0)] * width, 0
    for _ in range(epochs):
        ends = []
        for shard in shards:
            v = list(w)
            for x, y in shard:
                if (1 if sum(a * Fraction(b) for a, b in zip(v, x, strict=False)) >= 0 else -1) != y:
                    v = [a + y * Fraction(b) for a, b in zip(v, x, strict=False)]
                total = [a + b for a, b in zip(total, v, strict=False)]
                rounds += 1
            if shard:
                ends.append(v)
        w = [sum(column) / len(ends) for column in zip(*ends, strict=False)]
    return w, [a / rounds for a in total]
