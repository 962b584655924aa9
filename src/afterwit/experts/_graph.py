"""A directed acyclic graph with one source and one sink: the paths of online shortest path problems.

The edges keep the order they are given in. Those that lie on no path from the source to the sink keep their place, but
take no part: their flow is 0 and their cost does not matter.

>>> graph = PathGraph([("home", "bridge"), ("home", "ferry"), ("bridge", "work"), ("ferry", "work"), ("home", "work")])
>>> graph.source, graph.sink, graph.path_count, graph.longest
('home', 'work', 3, 2)
>>> graph.shortest_path([1, 1, 5, 2, 4])
[('home', 'ferry'), ('ferry', 'work')]
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.learner import view
from afterwit.errors import Words, counted, invalid, shorten
from afterwit.experts._pushing import least_path

Node = Hashable
Edge = tuple[Any, ...]
Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]

EDGES = "pairs (from, to) or triples (from, to, key), or a directed graph with such edges"


class PathGraph:
    """A directed acyclic graph with one source and one sink.

    edges   pairs (from, to), triples (from, to, key) where edges are parallel, or an object with ``edges``, such as a
            directed graph of networkx. A pair that is given several times becomes (from, to, 0), (from, to, 1), ...
            Nodes are anything hashable but None.
    source  where paths begin; if not given, the one node into which no edge leads
    sink    where they end; if not given, the one node out of which no edge leads
    """

    source: Any
    sink: Any

    def __init__(self, edges: Any, source: Any = None, sink: Any = None) -> None:
        if isinstance(edges, PathGraph):
            source = edges.source if source is None else source
            sink = edges.sink if sink is None else sink
        self.edges = _named(_listed(edges))
        self.position = {edge: place for place, edge in enumerate(self.edges)}
        after: dict[Node, list[Node]] = {}
        for edge in self.edges:
            after.setdefault(edge[0], []).append(edge[1])
            after.setdefault(edge[1], [])
        order = _topological_order(after)
        before: dict[Node, list[Node]] = {node: [] for node in order}
        for edge in self.edges:
            before[edge[1]].append(edge[0])
        self.source = _end("source", source, before, "into which no edge leads")
        self.sink = _end("sink", sink, after, "out of which no edge leads")
        forwards, backwards = _reached(self.source, after), _reached(self.sink, before)
        if self.source == self.sink or self.sink not in forwards:
            raise invalid("sink", f"a node to which a path leads from {shorten(self.source)}", self.sink)
        #: The nodes on paths, each before all that follow it: first the source, last the sink.
        self.nodes = [node for node in order if node in forwards and node in backwards]
        self._lay_out()

    def _lay_out(self) -> None:
        """Number the nodes in order and put the edges on paths row after row, by the node they leave."""
        number = {node: place for place, node in enumerate(self.nodes)}
        ends = [(number.get(edge[0], -1), number.get(edge[1], -1)) for edge in self.edges]
        tails, heads = np.array(ends, dtype=np.intp).T
        #: Which edges lie on a path from the source to the sink.
        self.on_path: npt.NDArray[np.bool_] = (tails >= 0) & (heads >= 0)
        #: The edges on paths by the node they leave, as positions in ``edges``.
        self.places: Positions = np.flatnonzero(self.on_path)
        self.places = self.places[np.argsort(tails[self.places], kind="stable")]
        #: Where each of them leads, as a position in ``nodes``.
        self.heads: Positions = np.ascontiguousarray(heads[self.places])
        #: Node v is left by those from first[v] to first[v + 1].
        self.first: Positions = np.searchsorted(tails[self.places], np.arange(len(self.nodes) + 1)).astype(np.intp)
        ones = np.ones(len(self.edges))
        #: The number of edges of the longest and of the shortest path.
        self.longest = len(self.least(-ones))
        self.shortest = len(self.least(ones))

    # ------------------------------------------------------------------ how many

    @cached_property
    def path_count(self) -> int:
        """The number of paths from the source to the sink, exactly."""
        counts: dict[int, int] = {len(self.nodes) - 1: 1}
        heads = self.heads.tolist()
        # The count of a node is dropped when the last edge into it has been seen: long graphs have long numbers.
        uses = np.bincount(self.heads, minlength=len(self.nodes)).tolist()
        for node in range(len(self.nodes) - 2, -1, -1):
            total = 0
            for head in heads[self.first[node] : self.first[node + 1]]:
                total += counts[head]
                uses[head] -= 1
                if uses[head] == 0:
                    del counts[head]
            counts[node] = total
        return counts[0]

    @cached_property
    def log_path_count(self) -> float:
        """ln of the number of paths, which may itself be beyond all floating point numbers."""
        return math.log(self.path_count)

    @property
    def one_length(self) -> bool:
        """Whether all paths have the same number of edges."""
        return self.longest == self.shortest

    def width(self, low: float, high: float) -> float:
        """How far the costs of two paths can be apart in one round, if edges cost from low to high."""
        most = high * (self.longest if high > 0 else self.shortest)
        least = low * (self.shortest if low > 0 else self.longest)
        return most - least

    # ------------------------------------------------------------------ the best

    def least(self, costs: Floats) -> list[int]:
        """The path of least total cost, the first of several, as positions in ``edges``."""
        return list(least_path(view(self.first), view(self.heads), view(self.places), view(costs)))

    def shortest_path(self, costs: Any) -> list[Edge]:
        """The path of least total cost, for a cost of each edge."""
        return self.at(self.least(self._checked(costs)))

    def longest_path(self, costs: Any) -> list[Edge]:
        """The path of greatest total cost."""
        return self.at(self.least(-self._checked(costs)))

    def at(self, places: Iterable[int]) -> list[Edge]:
        """The edges at some positions."""
        return [self.edges[place] for place in places]

    def _checked(self, costs: Any) -> Floats:
        array = np.array(costs, dtype=np.float64)
        if array.shape != (len(self.edges),) or not np.isfinite(array).all():
            raise invalid("costs", f"{len(self.edges)} finite numbers, one for each edge", costs)
        return array

    def __repr__(self) -> str:
        ends = f"from {shorten(self.source)} to {shorten(self.sink)}"
        lengths = f"{self.shortest:,} to {counted(self.longest, 'edge')}"
        return f"PathGraph: {counted(len(self.edges), 'edge')}, paths {ends} of {lengths}"


def _listed(edges: Any) -> list[Edge]:
    """The edges as tuples, as they were given."""
    directed = getattr(edges, "is_directed", None)
    if callable(directed) and not directed():
        raise invalid("edges", EDGES, Words("an undirected graph"))
    given = getattr(edges, "edges", edges)
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, Iterable):
        raise invalid("edges", EDGES, edges)
    listed = [_edge(edge, place) for place, edge in enumerate(given)]
    if not listed:
        raise invalid("edges", f"at least one of {EDGES}", edges)
    return listed


def _edge(edge: Any, place: int) -> Edge:
    if not isinstance(edge, Sequence) or isinstance(edge, (str, bytes)) or len(edge) not in (2, 3):
        raise invalid(f"edges[{place}]", "a pair (from, to) or a triple (from, to, key)", edge)
    plain = tuple(part.item() if isinstance(part, np.generic) else part for part in edge)
    try:
        hash(plain)
    except TypeError:
        raise invalid(f"edges[{place}]", "of hashable nodes", edge) from None
    if plain[0] is None or plain[1] is None or plain != tuple(_itself(part) for part in plain):
        raise invalid(f"edges[{place}]", "between nodes other than None and NaN", edge)
    return plain


def _itself(part: Any) -> Any:
    """The part, or None for what is not even equal to itself: NaN."""
    return part if part == part else None


def _named(edges: list[Edge]) -> tuple[Edge, ...]:
    """Every edge by a name of its own: of pairs given several times, each with a key that counts them."""
    times: dict[Edge, int] = {}
    for edge in edges:
        times[edge] = times.get(edge, 0) + 1
    seen: dict[Edge, int] = {}
    names = []
    for edge in edges:
        if times[edge] == 1:
            names.append(edge)
            continue
        if len(edge) == 3:
            raise invalid("edges", "different from each other, if need be by their keys", edge)
        seen[edge] = seen.get(edge, -1) + 1
        names.append((*edge, seen[edge]))
    if len(set(names)) < len(names):
        mixed = next(name for name in names if names.count(name) > 1)
        raise invalid("edges", "different from each other, if need be by their keys", mixed)
    return tuple(names)


def _topological_order(after: dict[Node, list[Node]]) -> list[Node]:
    """The nodes, each before all that follow it."""
    incoming = dict.fromkeys(after, 0)
    for heads in after.values():
        for head in heads:
            incoming[head] += 1
    order = [node for node, count in incoming.items() if count == 0]
    for node in order:  # which grows as it goes
        for head in after[node]:
            incoming[head] -= 1
            if incoming[head] == 0:
                order.append(head)
    if len(order) < len(after):
        cycle = " → ".join(shorten(node, 20) for node in _cycle(after, set(after).difference(order)))
        raise invalid("edges", "without a cycle", Words(f"the cycle {cycle}"))
    return order


def _cycle(after: dict[Node, list[Node]], left: set[Node]) -> list[Node]:
    """A cycle among nodes each of which is led to by another of them."""
    before = {head: node for node in after if node in left for head in after[node] if head in left}
    walked: dict[Node, int] = {}
    node = next(node for node in after if node in left)
    while node not in walked:
        walked[node] = len(walked)
        node = before[node]
    backwards = [*list(walked)[walked[node] :], node]
    return backwards[::-1]


def _end(parameter: str, given: Any, neighbours: dict[Node, list[Node]], which: str) -> Any:
    """The source or the sink: the given one, or the only candidate."""
    if given is not None:
        plain = given.item() if isinstance(given, np.generic) else given
        if not isinstance(plain, Hashable) or plain not in neighbours:
            raise invalid(parameter, "a node of the graph", given)
        return next(node for node in neighbours if node == plain)
    ends = [node for node, others in neighbours.items() if not others]
    if len(ends) > 1:
        shown = ", ".join(shorten(node, 20) for node in ends[:3]) + (", …" if len(ends) > 3 else "")
        raise invalid(parameter, f"given where several nodes could be it ({which}: {shown})", given)
    return ends[0]


def _reached(start: Node, after: dict[Node, list[Node]]) -> set[Node]:
    """All nodes that can be walked to."""
    found = {start}
    waiting = [start]
    while waiting:
        for node in after[waiting.pop()]:
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found
