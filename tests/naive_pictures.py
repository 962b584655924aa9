"""What pictures of runs show, counted slowly and one by one. Nothing of the package is used."""

import math


def so_far(numbers):
    """The sums after each round."""
    sums, total = [], 0.0
    for number in numbers:
        total += number
        sums.append(total)
    return sums


def means_so_far(numbers):
    return [total / (t + 1) for t, total in enumerate(so_far(numbers))]


def lately(numbers):
    """After each round the mean of the last eighth of the rounds until then, of one at least."""
    found = []
    for t in range(1, len(numbers) + 1):
        last = numbers[t - max(1, t // 8) : t]
        found.append(sum(last) / len(last))
    return found


def powers(rounds):
    """1, 2, 4, ... and the number of rounds."""
    found, t = [], 1
    while t < rounds:
        found.append(t)
        t *= 2
    return [*found, rounds]


def regrets(own, experts):
    """After each round the regret to each expert; None to those that have not been awake yet."""
    found, sums, awake = [], [0.0] * len(experts[0]), [False] * len(experts[0])
    for loss, row in zip(own, experts, strict=True):
        for i, each in enumerate(row):
            if not math.isnan(each):
                sums[i] += loss - each
                awake[i] = True
        found.append([total if there else None for total, there in zip(sums, awake, strict=True)])
    return found


def best(row):
    """The first of the experts to whom the regret is largest."""
    places = [i for i, regret in enumerate(row) if regret is not None]
    return max(places, key=lambda i: row[i])


def mean_loss(losses):
    """Over the rounds in which there is one; None if there is none."""
    there = [loss for loss in losses if not math.isnan(loss)]
    return sum(there) / len(there) if there else None


def mean_advice(row):
    there = [value for value in row if not math.isnan(value)]
    return sum(there) / len(there)


def inside(intervals, outcomes):
    return [1.0 if low <= y <= high else 0.0 for (low, high), y in zip(intervals, outcomes, strict=True)]


def pieces(rows, most):
    """The means of the rows in pieces of 1, 2, 4, ... rounds, as many as are needed for at most so many pieces."""
    width = 1
    while math.ceil(len(rows) / width) > most:
        width *= 2
    parts = [rows[begin : begin + width] for begin in range(0, len(rows), width)]
    return [[sum(column) / len(part) for column in zip(*part, strict=True)] for part in parts]


def leads(rows):
    """In which part of the rounds each has the largest number alone, and in which nobody has it alone."""
    counts = [0] * (len(rows[0]) + 1)
    for row in rows:
        largest = max(row)
        places = [i for i, number in enumerate(row) if number == largest]
        counts[places[0] if len(places) == 1 else -1] += 1
    return [count / len(rows) for count in counts]


def quantile(numbers, level):
    """Between the two numbers around it in order, by its distance to each."""
    ordered = sorted(numbers)
    place = level * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
