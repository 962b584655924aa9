"""Small data for the tests of learners, in every form that it can come in."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

widths = st.integers(1, 5)


def lists_of(values, width=widths, rows=12, least=1):
    """(rows, labels), the rows as lists."""
    return width.flatmap(
        lambda n: st.lists(
            st.tuples(st.lists(values, min_size=n, max_size=n), st.sampled_from([-1, 1])),
            min_size=least,
            max_size=rows,
        ).map(lambda examples: ([x for x, _ in examples], [y for _, y in examples]))
    )


small_integers = lists_of(st.integers(-3, 3))


def as_dense(X):
    return np.array(X, dtype=float)


def as_sparse(X):
    return sparse.csr_array(as_dense(X))


def as_dicts(X):
    """Every name in every row, so that all features are known from the start."""
    return [{f"f{j}": value for j, value in enumerate(x)} for x in X]


def as_frame(X):
    return pd.DataFrame(as_dense(X), columns=[f"f{j}" for j in range(len(X[0]))])


FORMS = [as_dense, as_sparse, as_dicts, as_frame]


def one_by_one(form, X):
    """The rows of one form as learn_one takes them."""
    many = form(X)
    if form is as_frame:
        return as_dicts(X)
    return [many[[i]] for i in range(len(X))] if form is as_sparse else list(many)


def in_columns(weights, width):
    """Weights as a list by column, whatever form they were learned in."""
    if isinstance(weights, dict):
        return [weights.get(f"f{j}", 0.0) for j in range(width)]
    return [*np.asarray(weights).tolist(), *[0.0] * (width - len(weights))]


def with_ones(X):
    """A leading column of ones."""
    return [[1.0, *x] for x in X]
