"""Run the sequences: which theorems there are, who has sequences for them, and how time is shared.

A sequence is named by the seed, its subject and its number; it is the same in every run, however long, and whatever
process it falls to. Subjects are learners, procedures and formulas; every module of this package adds its own.
"""

import importlib
import math
import time
import traceback
import warnings
import zlib
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import afterwit.bounds
from afterwit.core import registry
from afterwit.core.theorem import Theorem
from proving.judging import ERROR, Table, key_of

#: Where the sequences are.
FAMILIES = (
    "experts", "aggregating", "portfolios", "decisions", "linear", "descent", "scale_free", "regressors", "selective", "ridge",
    "intervals", "multiclass", "kernels", "concepts", "batch", "games", "samples", "rounds", "late", "groups",
    "mixing",
)  # fmt: skip

#: What plays sequences, by subject: a function of a table and a source of random numbers.
SUBJECTS = {}
#: The theorems that a subject's sequences reach, besides those of the learner of that name.
REACHED = {}
#: The theorems that some oracle judges.
JUDGED = set()
#: Where a sequence takes long, a part of the others' number is played.
SHARES = {
    "AggregatingAlgorithm": 0.3,
    "probability vectors": 0.5,
    "OneVsRest": 0.1,
    "kernel_margin_bound": 0.1,
    "the perceptron's adversary": 0.2,
    "the multiclass perceptron's adversary": 0.1,
    "the SVM left out": 0.2,
    "KernelPerceptron": 0.3,
    "DualPerceptron": 0.3,
    "Perceptron": 0.4,
    "AveragedPerceptron": 0.4,
    "MulticlassPerceptron": 0.2,
    "AveragedMulticlassPerceptron": 0.2,
    "SoftmaxAdaGrad": 0.3,
    "VotedPerceptron": 0.4,
    "parameter mixing": 0.05,
    "shards with the same unit vectors": 0.02,
}


def subject(name, *theorems):
    """Add a player of sequences; ``theorems`` are those it judges that are not among the learner's of that name."""

    def add(function):
        SUBJECTS[name] = function
        REACHED[name] = theorems
        judges(*theorems)
        return function

    return add


def judges(*theorems):
    """Say for which theorems there is an oracle."""
    JUDGED.update(theorems)


def load():
    """Collect all players and oracles."""
    for family in FAMILIES:
        importlib.import_module(f"proving.{family}")


# ---------------------------------------------------------------------- which theorems there are


def every_theorem(package="afterwit"):
    """Every theorem of the package by its key. Classes without a name are what several theorems share."""
    registry.classes(*registry.ROLES)
    assert afterwit.bounds.BOUNDS, "collecting them imports every family"
    found, waiting = {}, [Theorem]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if hasattr(kind, "name") and kind.__module__.split(".")[0] == package:
            found[key_of(kind)] = kind
    return dict(sorted(found.items()))


def learners_with_theorems():
    """Every learner of the registry that has theorems, and the keys of these."""
    kinds = registry.classes(*registry.ROLES)
    # Standardize has those of the learner inside, which are none of the class.
    own = {name: kind.theorems for name, kind in kinds.items() if isinstance(kind.theorems, tuple) and kind.theorems}
    return {name: tuple(key_of(type(each)) for each in theorems) for name, theorems in own.items()}


def expected(name):
    """The theorems that the sequences of a subject have to reach."""
    return {*learners_with_theorems().get(name, ()), *REACHED[name]}


def uncovered(package="afterwit"):
    """What nobody has sequences for: theorems without an oracle or a subject, and learners with theorems."""
    load()
    reached = set().union(*map(expected, SUBJECTS))
    theorems = [key for key in every_theorem(package) if key not in JUDGED or key not in reached]
    return theorems, [name for name in learners_with_theorems() if name not in SUBJECTS]


def unseen(table, name):
    """The theorems that no sequence of a subject has reached, or that none of them applied to."""
    seen = {theorem for (theorem, _), row in table.rows.items() if row.sequences or row.tight}
    return sorted(expected(name) - seen)


# ---------------------------------------------------------------------- running


def source(seed, name, number):
    """The random numbers of one sequence."""
    return np.random.default_rng([seed, zlib.crc32(name.encode()), number])


def play(table, name, seed, number):
    """One sequence of one subject. An error of the package is a finding, as a broken bound is."""
    table.where = f"{name} {number}"
    table.played += 1
    random = source(seed, name, number)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            SUBJECTS[name](table, random)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({place.filename.rpartition('/')[2]}:{place.lineno})"
        table.problem("", name, ERROR, detail)


def part(name, seed, first, step, count, seconds):
    """Sequences first, first + step, ... of a subject: ``count`` of them, or as many as there is time for."""
    load()
    table, number, end = Table(), first, time.monotonic() + seconds
    while (number - first) // step < count and time.monotonic() < end:
        play(table, name, seed, number)
        number += step
    return table


def counts(count, names):
    """How many sequences of each subject are played, of so many in all."""
    shares = {name: SHARES.get(name, 1.0) for name in names}
    return {name: math.ceil(count * share / sum(shares.values())) for name, share in shares.items()}


def search(seed, *, count=None, seconds=None, workers=1, only=None, progress=lambda *_: None):
    """Play sequences of all subjects: so many, or for so many seconds, in all. One table."""
    load()
    names = [name for name in SUBJECTS if only is None or only in name]
    share = math.inf if seconds is None else seconds / len(names)
    most = dict.fromkeys(names, 10**12) if count is None else counts(count, names)
    table = Table()
    # Of worker w the sequences w, w + workers, ...
    jobs = [
        (name, seed, first, workers, -(-(most[name] - first) // workers), share)
        for name in names
        for first in range(workers)
    ]
    if workers == 1:
        for job in jobs:
            table.add(part(*job))
            progress(job[0], table)
    else:
        with ProcessPoolExecutor(workers) as pool:
            for job, done in zip(jobs, pool.map(_part_of, jobs), strict=True):
                table.add(done)
                progress(job[0], table)
    for row in table.rows.values():
        row.conclude()
    return table


def _part_of(job):
    return part(*job)
