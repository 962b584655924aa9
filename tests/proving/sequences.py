"""Numbers that are hard: ties, ends of ranges, equal columns, duplicates, few rounds, and scales from 1e-12 to 1e12."""

import numpy as np

SCALES = (1e-12, 1e-10, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8, 1e12)


def size(random, most_rounds=40, most_columns=6):
    """Rounds and columns; often one of something, sometimes no round at all."""
    rounds = int(random.choice([0, 1, 1, 2, 3, 7, 7, 15, 15, most_rounds, most_rounds, most_rounds]))
    return rounds, int(random.choice([1, 2, 2, 3, most_columns, most_columns]))


def pick(random, *choices):
    """One of them."""
    return choices[int(random.integers(len(choices)))]


def values(random, rounds, columns):
    """Numbers from 0 to 1 with structure."""
    kind = pick(
        random, "plain", "ends", "grid", "equal", "equal", "nearly equal", "duplicates", "one good", "phases", "leader"
    )
    table = random.random((rounds, columns))
    if kind == "ends":
        table = random.integers(0, 2, (rounds, columns)).astype(float)
    elif kind == "grid":
        table = random.integers(0, 5, (rounds, columns)) / 4
    elif kind == "equal":
        table = np.repeat(random.random((rounds, 1)), columns, axis=1)
    elif kind == "nearly equal":
        table = np.repeat(random.random((rounds, 1)), columns, axis=1)
        table = np.clip(table * (1 + 2.0**-52 * random.integers(-2, 3, (rounds, columns))), 0, 1)
    elif kind == "duplicates":
        table = np.repeat(table[:, :1], columns, axis=1)
        table[:, 0] = random.random(rounds)
    elif kind == "one good":
        table[:, -1] *= 0.05
    elif kind == "leader":
        # Who has the least so far loses, and nobody else: whoever follows the leader always loses.
        table = np.zeros((rounds, columns))
        for t in range(rounds):
            table[t, int(np.argmin(table[:t].sum(axis=0)))] = 1.0
    elif kind == "phases":
        good = np.arange(rounds) * columns // max(1, rounds)
        table[np.arange(rounds), good % columns] *= 0.02
    return table


def asleep(random, table, share):
    """NaN for sleepers; somebody is awake in every round."""
    sleepers = random.random(table.shape) < share
    if table.size:
        sleepers[np.arange(len(table)), random.integers(0, table.shape[1], len(table))] = False
    return np.where(sleepers, np.nan, table)
