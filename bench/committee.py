"""A committee: its error in one pass over real data with nothing told, and its time beside the sum of its members'."""

from pathlib import Path

import numpy as np

import afterwit as aw
from _datasets import read
from learners import sparse_rows

#: File, labels, the most that is wanted, and what to compare with.
FIGURES = [
    ("a9a", (-1, 1), 0.16, "AdaGrad alone 15.5%"),
    ("spamassassin.svm.gz", (0, 1), 0.019, "AdaGrad alone 1.3%"),
    ("elec2.csv", (0, 1), 0.15, "repeating the last label alone 14.7%, AdaGrad alone 32%"),
    ("magic04.csv", ("h", "g"), 0.215, "in raw units; Vowpal Wabbit 21.9% with hinge loss, 22.3% with logistic loss"),
    ("spambase.csv", (0, 1), 0.086, "in raw units; Vowpal Wabbit 8.9% with squared loss, 10.9% with logistic loss"),
    ("bank_marketing.csv.gz", ("no", "yes"), 0.101, "in raw units; Vowpal Wabbit 10.1% with squared loss"),
    ("acl_books.svm.gz", (-1, 1), 0.1965, "Vowpal Wabbit 19.7% with squared loss, 20.1% with logistic loss"),
]


def committee_figures(folder):
    for name, labels, wanted, others in FIGURES:
        path = Path(folder) / name
        if not path.exists():
            print(f"Committee on {name}: left out, {path} is not there (make bench DATA=FOLDER)")
            continue
        committee = aw.Committee(labels=labels)
        error = aw.play(committee, aw.streams.ArrayStream(*read(path))).error
        verdict = "reached" if error <= wanted else "NOT REACHED"
        best = committee.best_member
        least = committee.member_mistakes[best] / committee.rounds
        figures = f"{error:.2%} error, its best member {best} {least:.2%}"
        print(f"Committee on {name}: {figures}; wanted <= {wanted:.2%}: {verdict} ({others})", flush=True)
        yield {"case": f"Committee on {name}", "error": error, "wanted": wanted, "best member": least}


def committee_case(best_times):
    """50,000 rows of 75 non-zeros over 47,236 features, and 50,000 dense rows of 6."""
    X, generator = sparse_rows(50_000, 75, 47_236)
    narrow = generator.random((50_000, 6))
    for shape, rows in (("75 sparse", X), ("6 dense", narrow)):
        y = np.where(rows @ generator.standard_normal(rows.shape[1]) >= 0, 1, -1)

        def apart(rows=rows, y=y):
            for member in aw.Committee().members.values():
                member.learn_many(rows, y)

        times = best_times({"afterwit": lambda rows=rows, y=y: aw.Committee().learn_many(rows, y)}, 5)
        times.update(best_times({"its members alone": apart}, 5))
        yield f"committee of {len(aw.Committee().members)} learns 50,000 x {shape}", times, {}
