"""Slow, obvious oracles for learners of paths: every path is listed. Imports nothing from afterwit."""

import math
from fractions import Fraction


def all_paths(edges, source, sink):
    """Every path from source to sink, as positions of edges. The edges lead from lower to higher numbers."""
    if source == sink:
        return [[]]
    found = []
    for place, edge in enumerate(edges):
        if edge[0] == source:
            found += [[place, *rest] for rest in all_paths(edges, edge[1], sink)]
    return found


def path_cost(path, costs):
    return sum((Fraction(costs[place]) for place in path), Fraction(0))


def probabilities(totals, rate):
    """exp(-rate C), normalised; the smallest total is moved to 0 first."""
    least = min(totals)
    weights = [math.exp(-rate * float(total - least)) for total in totals]
    return [weight / math.fsum(weights) for weight in weights]


class ExponentialWeightsOverPaths:
    """The definition, with one weight for every path."""

    def __init__(self, edges, source, sink, rate_in_round):
        self.paths = all_paths(edges, source, sink)
        self.width = len(edges)
        self.totals = [Fraction(0)] * len(self.paths)
        self.rate_in_round = rate_in_round
        self.rounds, self.loss = 0, 0.0

    def weights(self):
        return probabilities(self.totals, self.rate_in_round(self.rounds + 1))

    def flow(self):
        flow = [0.0] * self.width
        for path, weight in zip(self.paths, self.weights(), strict=True):
            for place in path:
                flow[place] += weight
        return flow

    def learn(self, costs):
        spent = [path_cost(path, costs) for path in self.paths]
        expected = math.fsum(weight * float(cost) for weight, cost in zip(self.weights(), spent, strict=True))
        self.totals = [total + cost for total, cost in zip(self.totals, spent, strict=True)]
        self.rounds += 1
        self.loss += expected
        return expected

    def regret(self):
        return self.loss - float(min(self.totals))


def perturbed_leader(paths, totals, perturbations):
    """The path with the least total of perturbed edges, the earliest of several."""
    sums = [path_cost(path, totals) + path_cost(path, perturbations) for path in paths]
    return paths[sums.index(min(sums))]


def chance_of_the_first(difference, epsilon, perturbation):
    """Of two experts, the probability that the first leads, if it has lost so much more than the second."""
    if difference < 0:
        return 1 - chance_of_the_first(-difference, epsilon, perturbation)
    if perturbation == "exponential":
        return math.exp(-epsilon * difference) / 2
    return max(0.0, 1 - epsilon * difference) ** 2 / 2


def expected_regret_of_two(losses, epsilon_in_round, perturbation):
    """The regret of the perturbed leader of two experts, exactly on average."""
    totals, expected = [0.0, 0.0], 0.0
    for number, (first, second) in enumerate(losses, start=1):
        chance = chance_of_the_first(totals[0] - totals[1], epsilon_in_round(number), perturbation)
        expected += chance * first + (1 - chance) * second
        totals = [totals[0] + first, totals[1] + second]
    return expected - min(totals)


def spread(paths, low, high):
    """What the dearest path can cost in a round, the cheapest path, and the difference; every edge costs low to high."""
    dearest = max(max(low, high) * len(path) for path in paths)
    cheapest = min(min(low, high) * len(path) for path in paths)
    return dearest, cheapest, dearest - cheapest


def perturbation_constants(paths, low, high, perturbation):
    """Q and S of the perturbed leader, from the list of paths: what not knowing a round costs, and the perturbation in all."""
    shortest, longest = min(map(len, paths)), max(map(len, paths))
    edges = len({place for path in paths for place in path})
    if shortest == longest:  # a constant added to all costs changes nothing
        low, high = 0, high - low
    dearest, _, difference = spread(paths, low, high)
    if perturbation == "uniform":
        size = high / 2 if shortest == longest else max(abs(low), abs(high))
        return difference * edges * size, longest / 2 - shortest / (edges + 1)
    # The best path's perturbation, on average the length of some path, is at least the shortest's.
    harmonic = sum(1 / i for i in range(1, edges + 1))
    log_paths = math.log(len(paths))
    most = min(longest * harmonic, longest + math.sqrt(2 * longest * log_paths) + log_paths)
    return dearest**2, most - shortest
