"""Graphs with one source and one sink, beside a list of all their paths."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_paths
from afterwit.errors import InputError
from afterwit.experts._graph import PathGraph
from graphs import graphs, layered


@given(graphs(), st.randoms(use_true_random=False))
def test_counts_lengths_and_best_paths_are_those_of_the_list(graph, random):
    edges, source, sink = graph
    paths = naive_paths.all_paths(edges, source, sink)
    ours = PathGraph(edges, source, sink)
    assert ours.path_count == len(paths)
    assert ours.log_path_count == math.log(len(paths))
    assert (ours.shortest, ours.longest) == (min(map(len, paths)), max(map(len, paths)))
    assert ours.one_length is (len(set(map(len, paths))) == 1)
    assert np.flatnonzero(ours.on_path).tolist() == sorted({place for path in paths for place in path})
    costs = [random.randint(-8, 8) / 4 for _ in edges]
    for found, best in ((ours.shortest_path(costs), min), (ours.longest_path(costs), max)):
        places = [ours.position[edge] for edge in found]
        assert places in paths
        assert naive_paths.path_cost(places, costs) == best(naive_paths.path_cost(path, costs) for path in paths)
    for low, high in ((0, 1), (1, 3), (-1, 2), (-3, -1)):
        most, least = max(high * len(path) for path in paths), min(low * len(path) for path in paths)
        assert ours.width(low, high) == most - least


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_edges_does_not_matter_and_stays(graph, random):
    edges, source, sink = graph
    shuffled = list(edges)
    random.shuffle(shuffled)
    one, other = PathGraph(edges, source, sink), PathGraph(shuffled, source, sink)
    assert [edge[:2] for edge in other.edges] == shuffled
    assert (one.path_count, one.longest, one.shortest) == (other.path_count, other.longest, other.shortest)
    place = {node: i for i, node in enumerate(other.nodes)}
    assert all(place[edge[0]] < place[edge[1]] for edge, on in zip(other.edges, other.on_path, strict=True) if on)


def test_source_and_sink_are_found_and_may_be_inside():
    chain = [("a", "b"), ("b", "c"), ("c", "d"), ("b", "d")]
    graph = PathGraph(chain)
    assert (graph.source, graph.sink, graph.path_count) == ("a", "d", 2)
    inside = PathGraph(chain, "b", "c")
    assert (inside.path_count, inside.on_path.tolist()) == (1, [False, True, False, False])
    assert repr(inside) == "PathGraph: 4 edges, paths from 'b' to 'c' of 1 to 1 edge"
    assert PathGraph(inside).path_count == 1
    assert PathGraph(inside, source="a").path_count == 1


def test_parallel_edges_have_keys():
    pairs = PathGraph([("a", "b"), ("a", "b"), ("b", "c")])
    assert pairs.edges == (("a", "b", 0), ("a", "b", 1), ("b", "c"))
    keys = PathGraph([("a", "b", "road"), ("a", "b", "rail")])
    assert keys.shortest_path([2, 1]) == [("a", "b", "rail")]


class Digraph:
    """What networkx offers, as far as it is used."""

    def __init__(self, edges, directed=True):
        self.edges, self.directed = edges, directed

    def is_directed(self):
        return self.directed


def test_anything_with_edges_will_do():
    assert PathGraph(Digraph({("a", "b"): {}, ("b", "c"): {}}.keys())).path_count == 1
    assert PathGraph(SimpleNamespace(edges=[(0, 1, "x"), (0, 1, "y")])).path_count == 2
    array = PathGraph(np.array([[0, 1], [1, 2], [0, 2]]))
    assert array.edges == ((0, 1), (1, 2), (0, 2))
    assert type(array.edges[0][0]) is int
    assert PathGraph([(np.int64(0), np.int64(1))]).edges == ((0, 1),)


def test_counts_beyond_all_floats_are_exact():
    graph = PathGraph(layered(12, 10))
    assert graph.path_count == 10**12
    pairs = PathGraph([(i, i + 1) for i in range(1400) for _ in range(2)])
    assert pairs.path_count == 2**1400
    assert pairs.log_path_count == pytest.approx(1400 * math.log(2), rel=1e-14)
    assert (pairs.longest, pairs.shortest) == (1400, 1400)


def test_a_hundred_thousand_edges():
    side = 225
    edges = [((i, j), (i + 1, j)) for i in range(side - 1) for j in range(side)]
    edges += [((i, j), (i, j + 1)) for i in range(side) for j in range(side - 1)]
    graph = PathGraph(edges)
    assert len(graph.edges) > 100_000
    assert graph.path_count == math.comb(2 * side - 2, side - 1)
    assert len(graph.shortest_path(np.ones(len(edges)))) == 2 * side - 2


@pytest.mark.parametrize(
    ("edges", "ends", "message"),
    [
        ([], (), "edges must be at least one of pairs"),
        ("ab", (), "edges must be pairs (from, to) or triples"),
        (7, (), "edges must be pairs (from, to) or triples"),
        ({("a", "b"): 1}, (), "edges must be pairs (from, to) or triples"),
        (["ab"], (), "edges[0] must be a pair (from, to) or a triple (from, to, key); received 'ab'"),
        ([(1, 2), (1,)], (), "edges[1] must be a pair"),
        ([(1, 2, 3, 4)], (), "edges[0] must be a pair"),
        ([(1, [2])], (), "edges[0] must be of hashable nodes"),
        ([(1, None)], (), "edges[0] must be between nodes other than None and NaN"),
        ([(1, math.nan)], (), "edges[0] must be between nodes other than None and NaN"),
        ([(1, 2, "a"), (1, 2, "a")], (), "edges must be different from each other, if need be by their keys"),
        ([(1, 2), (1, 2), (1, 2, 0)], (), "edges must be different from each other, if need be by their keys"),
        ([("a", "b"), ("b", "a")], (), "edges must be without a cycle; received the cycle "),
        ([("s", "a"), ("a", "a"), ("a", "t")], (), "edges must be without a cycle; received the cycle 'a' → 'a'"),
        ([(1, 3), (2, 3)], (), "source must be given where several nodes could be it (into which no edge leads: 1, 2)"),
        ([(1, 2), (1, 3)], (), "sink must be given where several nodes could be it"),
        ([(0, i) for i in range(1, 9)], (), "(out of which no edge leads: 1, 2, 3, …); received None"),
        ([(1, 2)], (5, None), "source must be a node of the graph; received 5"),
        ([(1, 2)], (None, [2]), "sink must be a node of the graph; received [2]"),
        ([(1, 2)], (2, 1), "sink must be a node to which a path leads from 2; received 1"),
        ([(1, 2)], (1, 1), "sink must be a node to which a path leads from 1; received 1"),
        (Digraph([(1, 2)], directed=False), (), "received an undirected graph"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_sentence(edges, ends, message):
    with pytest.raises(InputError, match=re.escape(message)):
        PathGraph(edges, *ends)


def test_the_cycle_that_is_named_is_one():
    with pytest.raises(InputError) as caught:
        PathGraph([(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5)])
    cycle = str(caught.value).rpartition("cycle ")[2].split(" → ")
    assert cycle[0] == cycle[-1]
    assert len(cycle) == 4
    assert " ".join(cycle) in "1 2 3 1 2 3 1"


@pytest.mark.parametrize("costs", [[1], [[1, 2]], [1, math.nan]])
def test_costs_that_are_none(costs):
    with pytest.raises(InputError, match="costs must be 2 finite numbers"):
        PathGraph([(0, 1), (1, 2)]).shortest_path(costs)
