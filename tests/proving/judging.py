"""When a certificate is wrong: it is compared with what is true of the run, which an oracle computed from the data.

``Truth.slack`` says how far rounding may have moved the run from the algorithm as it is defined. A certificate that says
itself how far it may be off (``rounding``) is held to that, and to the oracle's slack. Where no oracle can compute the
bound, the certificate's own is taken; how many were computed is counted, and shown in docs/evidence.md.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace

from scipy.stats import binom

EPSILON = 2.0**-52
#: A bound that is a closed formula may differ by this part from the oracle's, which computes it in another order.
FORMULA = 1e-9
#: A bound that is met with equality may be below it by this part, by the rounding of its own formula.
LAST_DIGITS = 1e-12
#: A verdict may forgive as much as rounding can have done: so many times the oracle's slack, and this part of the bound.
FORGIVEN_SLACKS, FORGIVEN_PART = 4, 1e-9
#: Losses whose squares are no numbers count as none.
SMALLEST = 1e-140
#: A bound on a count that is larger than this, of a run of at most hundreds of rounds, forgives what it likes.
LARGEST_COUNT = 1e6
COUNTS = (
    "mistakes", "updates", "promotions", "eliminations", "uncovered rounds", "weighted mistakes", "weighted updates",
)  # fmt: skip
#: How unlikely a frequency or a mean has to be before it refutes a theorem about chance.
CERTAIN = 1e-9
#: As many standard errors as make a mean that unlikely.
ERRORS = 6.0

CALLED_VIOLATED = "called violated"
EXCEEDED = "above the bound, called holds"
BLIND = "a run above the bound would be called holds"
STRICT = "a run at the bound would be called violated"
MISREPORTED = "observed is not what happened"
MISSTATED = "the bound is not that of the theorem"
NOT_APPLICABLE_BOUND = "a bound where the theorem does not apply"
APPLIED = "applied where an assumption does not hold"
HINDSIGHT = "hindsight is worse than the learner's own weights"
HINDSIGHT_VALUE = "hindsight is not what the best comparator has"
NOT_ATTAINED = "a tight theorem is not attained on its adversary"
TWIN = "not what the textbook's algorithm does"
ERROR = "an error"
TOO_OFTEN = "exceeded more often than delta allows"
TOO_MUCH = "above the bound on average"


@dataclass(frozen=True)
class Truth:
    """What an oracle found: the quantity, the bound (None where it could not be computed from the data), and the slack.

    ``excess`` is the largest difference of both where the theorem speaks of several things at once, such as all experts.
    """

    #: None where rounding decides what the algorithm does, and only the certificate can know it.
    observed: float | None
    bound: float | None = None
    slack: float = 0.0
    excess: float | None = None
    #: How far a bound may be from the oracle's besides `FORMULA`: it was computed from sums that are rounded.
    bound_slack: float = 0.0


@dataclass
class Row:
    """What is known of one theorem for one subject, added up over sequences."""

    sequences: int = 0
    refused: int = 0
    #: How many bounds an oracle computed as well.
    recomputed: int = 0
    problems: Counter = field(default_factory=Counter)
    #: For every problem the first sequences that showed it, and what was seen.
    examples: dict = field(default_factory=dict)
    closest: float = -math.inf
    tight: int = 0
    #: Bounds that hold with probability 1 - delta: how many runs were above them, and delta.
    above: int = 0
    delta: float | None = None
    #: Bounds on averages: how many runs, the sum and the sum of squares of observed / bound.
    means: list = field(default_factory=lambda: [0, 0.0, 0.0])

    def problem(self, kind, where, detail=""):
        self.problems[kind] += 1
        shown = self.examples.setdefault(kind, [])
        if len(shown) < 3:
            shown.append((where, detail))

    def approach(self, observed, bound, slack=0.0):
        """How close a run came to the bound; where the bound is lost in rounding that means nothing."""
        if bound is not None and math.isfinite(bound) and bound > 1e3 * slack and bound > 0:
            self.closest = max(self.closest, float(observed) / float(bound))

    def add(self, other):
        """Take in what another process found."""
        self.sequences += other.sequences
        self.refused += other.refused
        self.recomputed += other.recomputed
        self.problems.update(other.problems)
        for kind, shown in other.examples.items():
            self.examples[kind] = sorted([*self.examples.get(kind, []), *shown])[:3]
        self.closest = max(self.closest, other.closest)
        self.tight += other.tight
        self.above += other.above
        self.delta = other.delta if self.delta is None else self.delta
        self.means = [a + b for a, b in zip(self.means, other.means, strict=True)]

    def conclude(self):
        """Judge what only many runs together can show."""
        if self.delta is not None and binom.sf(self.above - 1, self.sequences, self.delta) < CERTAIN:
            self.problem(TOO_OFTEN, "", f"{self.above:,} of {self.sequences:,} runs, delta = {self.delta:g}")
        runs, total, squares = self.means
        if runs >= 30:
            mean = total / runs
            deviation = math.sqrt(max(0.0, squares / runs - mean * mean) / runs)
            if mean > 1 + ERRORS * deviation + FORMULA:
                self.problem(TOO_MUCH, "", f"{mean:.4g} of the bound on average over {runs:,} runs")


class Table:
    """The rows, by theorem and subject."""

    def __init__(self):
        self.rows = {}
        self.where = ""
        #: How many sequences were played, and how many judgements these gave.
        self.played = 0
        self.judged = 0

    def row(self, theorem, subject):
        return self.rows.setdefault((theorem, subject), Row())

    def add(self, other):
        for key, row in other.rows.items():
            self.row(*key).add(row)
        self.played += other.played
        self.judged += other.judged

    def problem(self, theorem, subject, kind, detail=""):
        self.row(theorem, subject).problem(kind, self.where, detail)

    # ------------------------------------------------------------------ one certificate

    def certificate(self, made, subject, truth, theorem=None):
        """Judge one certificate; ``truth`` is a Truth, or a function that finds it, asked only where it is needed."""
        row = self.row(theorem or key_of(type(made.theorem)), subject)
        self.judged += 1
        verdict = str(made.verdict)
        if verdict == "not applicable":
            row.refused += 1
            if made.bound is not None:
                row.problem(NOT_APPLICABLE_BOUND, self.where, f"bound {made.bound!r}, observed {made.observed!r}")
            return
        row.sequences += 1
        if verdict == "violated":
            row.problem(CALLED_VIOLATED, self.where, f"observed {made.observed!r}, bound {made.bound!r}")
        truth = truth() if callable(truth) else truth
        if truth is None:
            return
        if truth.observed is None:
            truth = replace(truth, observed=made.observed)
        rounding = float(getattr(made, "rounding", 0.0) or 0.0)
        row.recomputed += truth.bound is not None
        bound = made.bound if truth.bound is None else truth.bound
        excess = truth.observed - bound if truth.excess is None else truth.excess
        seen = f"true {float(truth.observed)!r} > {float(bound)!r}, slack {truth.slack:.3g}, rounding {rounding:.3g}"
        limit = rounding if hasattr(made, "rounding") else truth.slack
        if excess > limit + LAST_DIGITS * abs(bound) and verdict != "violated":
            row.problem(EXCEEDED, self.where, seen)
        if not abs(made.observed - truth.observed) <= truth.slack + rounding:
            row.problem(MISREPORTED, self.where, f"{made.observed!r}, true {float(truth.observed)!r}")
        off = abs(made.bound - bound) if math.isfinite(bound) or made.bound != bound else 0.0
        if not off <= FORMULA * abs(bound) + truth.slack + truth.bound_slack + rounding:
            row.problem(MISSTATED, self.where, f"{made.bound!r}, true {float(bound)!r}")
        if not made.theorem.chance:
            self.notices(made, row, truth)
        row.approach(truth.observed, bound, truth.slack)

    def notices(self, made, row, truth):
        """Whether the verdict is another one as soon as a run is further above the bound than rounding explains."""
        if not math.isfinite(made.bound):
            return
        rounding = float(getattr(made, "rounding", 0.0) or 0.0)
        size = max(abs(made.bound), float(made.quantity in COUNTS))
        allowed = FORGIVEN_SLACKS * truth.slack + FORGIVEN_PART * size + SMALLEST
        just_above = [made.bound + allowed] if made.bound <= LARGEST_COUNT or made.quantity not in COUNTS else []
        # What the certificate itself says rounding may have done is not to be exceeded either.
        just_above.append(math.nextafter(made.bound + rounding, math.inf))
        for observed in just_above:
            if observed > made.bound and str(replace(made, observed=observed).verdict) != "violated":
                row.problem(BLIND, self.where, f"observed {observed!r} beside {made.bound!r}")
        for observed in (made.bound, math.nextafter(made.bound, -math.inf)):
            if str(replace(made, observed=observed).verdict) != "holds":
                row.problem(STRICT, self.where, f"observed {observed!r} beside {made.bound!r}")

    # ------------------------------------------------------------------ what has no certificate of its own

    def bounded(self, theorem, subject, observed, bound, slack=0.0):
        """A run judged by a formula: above it, it is broken."""
        row = self.row(theorem, subject)
        row.sequences += 1
        self.judged += 1
        if not observed <= bound + slack + FORMULA * abs(bound):
            row.problem(EXCEEDED, self.where, f"{float(observed)!r} > {float(bound)!r}")
        row.approach(observed, bound, slack)

    def attained(self, theorem, subject, observed, bound, slack=0.0):
        """A tight theorem on its adversary: equality."""
        row = self.row(theorem, subject)
        row.tight += 1
        self.judged += 1
        if not abs(observed - bound) <= slack:
            row.problem(NOT_ATTAINED, self.where, f"{observed!r}, the bound is {bound!r}")
        row.approach(observed, bound)

    def same(self, theorem, subject, got, wanted, kind=TWIN, slack=0.0):
        """Something that has to be equal to what the oracle says."""
        equal = got == wanted if isinstance(got, list | tuple | str) else abs(got - wanted) <= slack
        if not equal:
            self.problem(theorem, subject, kind, f"{got!r}, should be {wanted!r}")

    def stated(self, theorem, subject, bound, wanted, slack=None):
        """A bound beside the oracle's, which computed it from the data."""
        self.row(theorem, subject).recomputed += 1
        slack = FORMULA * abs(wanted) + 1e-300 if slack is None else slack
        self.same(theorem, subject, float(bound), float(wanted), MISSTATED, slack)

    def chance(self, theorem, subject, above, delta):
        """One run of a bound that holds with probability 1 - delta."""
        row = self.row(theorem, subject)
        row.sequences += 1
        row.above += bool(above)
        row.delta = delta
        self.judged += 1

    def on_average(self, theorem, subject, observed, bound):
        """One run of a bound on an average."""
        row = self.row(theorem, subject)
        row.sequences += 1
        self.judged += 1
        if bound > 0:
            ratio = float(observed) / float(bound)
            row.means = [row.means[0] + 1, row.means[1] + ratio, row.means[2] + ratio * ratio]
        elif observed > 0:
            row.problem(TOO_MUCH, self.where, f"{observed!r} where the bound is 0")


def key_of(theorem):
    """A theorem's name in the tables: its module and class."""
    return f"{theorem.__module__.removeprefix('afterwit.')}.{theorem.__name__}"


def all_of(certificate):
    """A certificate and those beside it."""
    return (certificate, *certificate.others)
