"""Graphs to test with."""

from hypothesis import strategies as st


@st.composite
def graphs(draw):
    """Edges between 0..n-1, parallel ones too, some on no path; always with a path from 0 to n-1."""
    nodes = draw(st.integers(2, 6))
    pair = st.tuples(st.integers(0, nodes - 2), st.integers(1, nodes - 1)).filter(lambda pair: pair[0] < pair[1])
    edges = draw(st.lists(pair, max_size=11))
    edges.insert(draw(st.integers(0, len(edges))), (0, nodes - 1))
    return edges, 0, nodes - 1


def layered(layers, width):
    """All edges from each layer to the next: width ** layers paths."""
    edges = [("in", (0, j)) for j in range(width)]
    edges += [((i, j), (i + 1, k)) for i in range(layers - 1) for j in range(width) for k in range(width)]
    return [*edges, *(((layers - 1, j), "out") for j in range(width))]
