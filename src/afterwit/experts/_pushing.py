# cython: boundscheck=False, wraparound=False, cdivision=True
"""The loops over a graph, round after round: weight pushing, expected costs, flows, drawn paths and perturbed leaders.

A graph comes as three arrays: the edges lie by the node they leave, nodes in topological order; node v is left by those
from first[v] to first[v + 1]; heads[k] is the node edge k leads to, and places[k] its position in the order the user
knows. Node 0 is the source, the last one the sink.
"""

from __future__ import annotations

import cython
import numpy as np

from afterwit.core.learner import view

if cython.compiled:
    from cython.cimports.libc.math import exp, log, log1p, sqrt
else:
    from math import exp, log, log1p, sqrt


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def push(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    totals: cython.double[::1],
    rate: cython.double,
    logs: cython.double[::1],
    shares: cython.double[::1],
) -> cython.void:
    """Weight pushing: how the weight of all paths from a node is shared among the edges that leave it.

    An edge of total cost C has the weight exp(-rate C), a path the product of its edges' weights. logs[v] becomes ln of
    the total weight of all paths from node v to the sink, shares[k] the part of it that goes over edge k.
    """
    node: cython.Py_ssize_t
    k: cython.Py_ssize_t
    largest: cython.double
    total: cython.double
    last: cython.Py_ssize_t = first.shape[0] - 2
    logs[last] = 0.0
    for node in range(last - 1, -1, -1):
        largest = 0.0
        for k in range(first[node], first[node + 1]):
            shares[k] = logs[heads[k]] - rate * totals[places[k]]
            if k == first[node] or shares[k] > largest:
                largest = shares[k]
        total = 0.0
        for k in range(first[node], first[node + 1]):
            shares[k] = exp(shares[k] - largest) if shares[k] != largest else 1.0
            total += shares[k]
        for k in range(first[node], first[node + 1]):
            shares[k] /= total
        logs[node] = largest + log(total) if total != 1.0 else largest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def expectation(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    shares: cython.double[::1],
    costs: cython.double[:, ::1],
    row: cython.Py_ssize_t,
    ahead: cython.double[::1],
) -> cython.double:
    """The expected cost of a path that is drawn by the shares; ahead[v] becomes that of what follows node v."""
    node: cython.Py_ssize_t
    k: cython.Py_ssize_t
    mean: cython.double
    last: cython.Py_ssize_t = first.shape[0] - 2
    ahead[last] = 0.0
    for node in range(last - 1, -1, -1):
        mean = 0.0
        for k in range(first[node], first[node + 1]):
            mean += shares[k] * (costs[row, places[k]] + ahead[heads[k]])
        ahead[node] = mean
    return ahead[0]


def push_once(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    totals: cython.double[::1],
    rate: cython.double,
    logs: cython.double[::1],
    shares: cython.double[::1],
) -> None:
    """`push` for Python."""
    push(first, heads, places, totals, rate, logs, shares)


def push_rounds(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    costs: cython.double[:, ::1],
    totals: cython.double[::1],
    rate: cython.double,
    decreasing: cython.bint,
    rounds: cython.longlong,
    loss: cython.double,
    pushed: cython.bint,
    logs: cython.double[::1],
    shares: cython.double[::1],
    losses: cython.double[::1],
) -> float:
    """Learn the rows of costs in order, after so many rounds and that loss; the loss afterwards.

    ``losses`` becomes the expected cost of each round, made before its costs are added to the totals. Decreasing, the
    rate of round t is rate / sqrt(t). If ``pushed``, the shares are already those of the first round.
    """
    row: cython.Py_ssize_t
    edge: cython.Py_ssize_t
    current: cython.double = rate
    with cython.nogil:
        for row in range(costs.shape[0]):
            if decreasing:
                current = rate / sqrt(rounds + row + 1)
            if row > 0 or not pushed:
                push(first, heads, places, totals, current, logs, shares)
            # The logs are of use no more in this round: their place is taken for the expected costs.
            losses[row] = expectation(first, heads, places, shares, costs, row, logs)
            loss += losses[row]
            for edge in range(costs.shape[1]):
                totals[edge] += costs[row, edge]
    return loss


def flows(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    shares: cython.double[::1],
    reached: cython.double[::1],
    flow: cython.double[::1],
) -> None:
    """The probability of each edge, from the shares; ``reached``, of zeros, becomes that of each node."""
    node: cython.Py_ssize_t
    k: cython.Py_ssize_t
    reached[0] = 1.0
    for node in range(first.shape[0] - 2):
        for k in range(first[node], first[node + 1]):
            flow[places[k]] = reached[node] * shares[k]
            reached[heads[k]] += flow[places[k]]


def draw_path(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    shares: cython.double[::1],
    uniforms: cython.double[:, ::1],
    row: cython.Py_ssize_t,
) -> list[int]:
    """A path drawn by the shares, one uniform number for each step, as positions of edges."""
    node: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    chosen: cython.Py_ssize_t
    step: cython.Py_ssize_t = 0
    below: cython.double
    path: list[int] = []
    while node < first.shape[0] - 2:
        below = 0.0
        chosen = -1
        for k in range(first[node], first[node + 1]):
            if shares[k] > 0.0:
                # Where rounding leaves the shares a little below 1 in all, the last possible edge takes the rest.
                chosen = k
                below += shares[k]
                if uniforms[row, step] < below:
                    break
        path.append(places[chosen])
        node = heads[chosen]
        step += 1
    return path


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def lead(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    totals: cython.double[::1],
    uniforms: cython.double[:, ::1],
    row: cython.Py_ssize_t,
    exponential: cython.bint,
    scale: cython.double,
    least: cython.double[::1],
    choice: cython.Py_ssize_t[::1],
) -> cython.void:
    """The shortest path by perturbed totals; choice[v] becomes the edge by which it would leave node v.

    The perturbation is a standard uniform or exponential number times the scale: the one is added to the total of an
    edge, the other subtracted.
    """
    node: cython.Py_ssize_t
    k: cython.Py_ssize_t
    value: cython.double
    last: cython.Py_ssize_t = first.shape[0] - 2
    least[last] = 0.0
    for node in range(last - 1, -1, -1):
        for k in range(first[node], first[node + 1]):
            value = uniforms[row, places[k]]
            if exponential:
                value = log1p(-value)
            value = totals[places[k]] + scale * value + least[heads[k]]
            if k == first[node] or value < least[node]:
                least[node] = value
                choice[node] = k


def lead_once(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    totals: cython.double[::1],
    uniforms: cython.double[:, ::1],
    exponential: cython.bint,
    scale: cython.double,
    least: cython.double[::1],
    choice: cython.Py_ssize_t[::1],
) -> list[int]:
    """The path that leads by the totals perturbed with the first row of uniform numbers."""
    node: cython.Py_ssize_t = 0
    path: list[int] = []
    lead(first, heads, places, totals, uniforms, 0, exponential, scale, least, choice)
    while node < first.shape[0] - 2:
        path.append(places[choice[node]])
        node = heads[choice[node]]
    return path


def lead_rounds(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    costs: cython.double[:, ::1],
    totals: cython.double[::1],
    uniforms: cython.double[:, ::1],
    exponential: cython.bint,
    scale: cython.double,
    increasing: cython.bint,
    rounds: cython.longlong,
    loss: cython.double,
    least: cython.double[::1],
    choice: cython.Py_ssize_t[::1],
    losses: cython.double[::1],
) -> float:
    """Follow the perturbed leader through the rows of costs, after so many rounds and that loss; the loss afterwards.

    ``losses`` becomes the cost of each round's leader. Increasing, the scale of round t is scale sqrt(t).
    """
    row: cython.Py_ssize_t
    edge: cython.Py_ssize_t
    node: cython.Py_ssize_t
    cost: cython.double
    current: cython.double = scale
    with cython.nogil:
        for row in range(costs.shape[0]):
            if increasing:
                current = scale * sqrt(rounds + row + 1)
            lead(first, heads, places, totals, uniforms, row, exponential, current, least, choice)
            node = 0
            cost = 0.0
            while node < first.shape[0] - 2:
                cost += costs[row, places[choice[node]]]
                node = heads[choice[node]]
            losses[row] = cost
            loss += cost
            for edge in range(costs.shape[1]):
                totals[edge] += costs[row, edge]
    return loss


def least_path(
    first: cython.Py_ssize_t[::1],
    heads: cython.Py_ssize_t[::1],
    places: cython.Py_ssize_t[::1],
    costs: cython.double[::1],
) -> list[int]:
    """The path of least total cost, as positions of edges: the leader, unperturbed."""
    nodes: cython.Py_ssize_t = first.shape[0] - 1
    none = view(np.zeros((1, costs.shape[0])))
    least, choice = view(np.empty(nodes)), view(np.empty(nodes, dtype=np.intp))
    return lead_once(first, heads, places, costs, none, False, 0.0, least, choice)
