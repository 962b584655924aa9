"""A committee for many classes: learners vote, and those that have been right more often weigh more.

Setting     N learners of many labels, the members; y_t in {1..K}, or in no set that is known beforehand. In round t
            every member i says v_{t,i}; predict the class with the largest weight, the sum of p_{t,i} over the members
            that say it, of several the class that came first; p_t is what each member weighs.
Update      every member learns (x_t, y_t). An expert algorithm, fixed share with alpha = 1/1000 and eta = 1/2 unless
            told otherwise, sees the members' losses l_{t,i} = 1 if v_{t,i} != y_t, else 0, and gives p_{t+1}.
Guarantee   on any sequence and for every member i with M_i mistakes: following one member by chance, drawn by p_t,
            costs sum_t p_t . l_t <= M_i + B expected mistakes, where B is the expert algorithm's bound on the regret.
            The vote makes at most 2 (M_i + B) mistakes: when it is wrong, the right class has no more weight than the
            one that was predicted, and so at most half of it. All members that say something else are wrong: at least
            half of the weight is, that is p_t . l_t >= 1/2.
Assumes     nothing about where the examples come from, nor about the members.
Source      the vote: Littlestone & Warmuth 1994; for many classes the count above.

>>> committee = MulticlassCommittee(["multiclass-perceptron", "nearest-neighbours"])
>>> X = [{"woof": 1}, {"purr": 1}, {"tweet": 1}] * 4
>>> committee.learn_many(X, ["dog", "cat", "bird"] * 4).tolist()[3:]
['dog', 'cat', 'bird', 'dog', 'cat', 'bird', 'dog', 'cat', 'bird']
>>> committee.mistakes, committee.member_mistakes
(3, {'MulticlassPerceptron': 3, 'NearestNeighbours': 3})
>>> committee.classes, committee.score_one({"purr": 1})
(('dog', 'cat', 'bird'), {'dog': 0.0, 'cat': 1.0, 'bird': 0.0})
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Option
from afterwit.core.learner import checked_counts
from afterwit.core.many_labels import MANY_LABELS, ManyLabelLearner
from afterwit.core.sources import certify_source
from afterwit.core.turns import Rounds, parts
from afterwit.data.advice import Experts
from afterwit.data.classes import Classes, Codes
from afterwit.data.rows import as_mapping
from afterwit.errors import DivergenceError, InputError, counted, invalid, shorten
from afterwit.experts.repeat_last_label import RepeatLastLabel
from afterwit.kernels.nearest_neighbours import NearestNeighbours
from afterwit.linear.adagrad import AdaGrad
from afterwit.linear.multiclass_perceptron import MulticlassPerceptron
from afterwit.linear.normalized_adagrad import NormalizedAdaGrad
from afterwit.linear.scale_free import ScaleFree
from afterwit.linear.softmax_adagrad import SoftmaxAdaGrad
from afterwit.reductions._binary import blank, require_rounds
from afterwit.reductions._many_members import LEARNERS, ManyMembers, read_member, votes_of
from afterwit.reductions._members import Reading, read_each
from afterwit.reductions._weighting import read_weighting
from afterwit.reductions.committee import ExpectedMistakesBound, VoteBound, table_of
from afterwit.reductions.multiclass_standardize import MulticlassStandardize
from afterwit.reductions.one_vs_rest import OneVsRest


def default_pool() -> list[Any]:
    """A few learners that differ as much as possible: at home in any units, on texts, on curved classes, under drift.

    Behind running means and deviations, softmax regression does not depend on the units of the features, nor on where
    they have their zero; two rates, because the best one differs from stream to stream. The multiclass perceptron there
    has steps that never become shorter: under drift what was learned long ago is in the way. `ScaleFree` and
    `NormalizedAdaGrad` leave the zeros of texts alone, and `AdaGrad` is good where all features are 0 or 1. No line has
    to run between the classes for nearest neighbours: one where classes do not overlap, five where they do.
    `RepeatLastLabel` does not look at the examples: where labels come in runs it is hard to beat.
    """
    return [
        MulticlassStandardize(SoftmaxAdaGrad()),
        MulticlassStandardize(SoftmaxAdaGrad(rate=0.5)),
        MulticlassStandardize(MulticlassPerceptron(intercept=True)),
        OneVsRest(ScaleFree()),
        OneVsRest(NormalizedAdaGrad(rate=1.5)),
        OneVsRest(AdaGrad(intercept=True)),
        NearestNeighbours(neighbours=1),
        NearestNeighbours(),
        OneVsRest(RepeatLastLabel()),
    ]


class MulticlassCommittee(ManyLabelLearner):
    """Learners of many labels that vote, weighed by how often each has been right.

    learners   the members: learners of many labels, or of two labels, which become one against the rest (instances,
               which are never changed, and whose labels and what they have learned do not matter), their classes, or
               their names such as "softmax-adagrad"; in a sequence, or in a dict by the names they are to have. If not
               given, a few that are as different as they can be
    weighting  the expert algorithm that weighs them: "fixed-share", "adahedge", "boa" or "mlpol", or a fresh instance
               of another one, made for as many experts as there are members and for losses in [0, 1]
    labels     the labels that may come, two or more; each can be predicted from the start. If not given, any label may
               come, and a class begins with its first example, in which it cannot be predicted. Before the first, None
               is predicted.
    """

    theorems = (VoteBound(), ExpectedMistakesBound())
    checker = "committee"

    options = (Option("learners", None), Option("weighting", "fixed-share"), MANY_LABELS)

    def _begin(self) -> None:
        ManyLabelLearner._begin(self)
        given = self._options["learners"]
        members = read_each(
            default_pool() if given is None else given, lambda learner: read_member(learner, self._labels), LEARNERS
        )
        weighting = read_weighting(self._options["weighting"], tuple(members))
        if given is not None:
            self._options["learners"] = members
        if not isinstance(self._options["weighting"], str):
            self._options["weighting"] = weighting
        self._rounds = self._mistakes = 0
        self._experts = Experts(len(members), tuple(members))
        self._members = ManyMembers({name: blank(member) for name, member in members.items()})
        self._weighting = blank(weighting)

    # ------------------------------------------------------------------ one round

    def score_one(self, x: Any) -> dict[Any, float]:
        """The weight of every class, from 0 to 1."""
        with self._lock:
            return dict(zip(self._classes.labels, self._votes_on(x), strict=True))

    def predict_one(self, x: Any) -> Any:
        """The class with the largest weight, the first of several; None before any class is known. Nothing changes."""
        with self._lock:
            return self._label(_leader(self._votes_on(x)))

    def _votes_on(self, x: Any) -> list[float]:
        x = as_mapping(x)
        row = self._members.shared_row(x)
        if row is None:
            votes: list[float] = self.score_many(self._read_one(x))[0].tolist()
            return votes
        said = self._members.said_to(row, self._classes)
        return _votes_in(said, self._weighting.weights.tolist(), len(self._classes))

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x by the vote, count the round and the mistake, let every member learn. Returns the prediction."""
        with self._lock:
            codes, new = self._classes.read([y], None)
            x = as_mapping(x)
            row = self._members.shared_row(x)
            if row is None:
                leaders = self._learn(self._read_one(x), codes, new)
                return self._label(int(leaders[0]))
            with Rounds():
                said = self._members.learn_one(row, y, self._classes)
                shares = self._weighed(np.array([said]), codes, new)[0].tolist()
                leader = _leader(_votes_in(said, shares, len(self._classes)))
                predicted = self._label(leader)
                self._count(np.array([leader]), codes, new)
            return predicted

    def _label(self, code: int) -> Any:
        return None if code < 0 else self._classes.labels[code]

    # ------------------------------------------------------------------ many rounds

    def score_many(self, X: Any) -> npt.NDArray[np.float64]:
        """The weights of the classes in every row: an array with a column for each of ``classes``."""
        with self._lock:
            said = self._members.said(self._read(X), self._classes)
            return votes_of(said, self._weighting.weights, len(self._classes))

    def predict_many(self, X: Any) -> npt.NDArray[Any]:
        """``predict_one`` for every row of X, as an array."""
        with self._lock:
            return self._classes.decode(_leaders(self.score_many(X)))

    def _read(self, X: Any) -> Any:
        return self._members.read(X)

    def _read_one(self, x: Any) -> Any:
        return x if isinstance(x, Reading) else self._members.read_one(x)

    def _learn(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        """Learn all rows or none; but if a member diverges, or somebody wants to stop, the rounds before it."""
        with Rounds():
            if rows.count < 2:
                return self._learn_part(rows, codes, new)
            before = self.state()
            leaders = np.empty(rows.count, dtype=np.intp)
            try:
                for begin, end in parts(rows.count):
                    part = rows if end - begin == rows.count else rows.part(begin, end)
                    leaders[begin:end] = self._learn_part(part, codes[begin:end], _within(new, begin, end))
                return leaders
            except DivergenceError as error:
                self.restore(before)
                diverged = error
            except Exception:
                self.restore(before)
                raise
            # Half of the rows, and so on, until it is only the round in which a member diverges that is not learned.
            half = rows.count // 2
            with suppress(InputError):  # what a single round is refused with, whose score overflows
                self._learn(rows.part(0, half), codes[:half], _within(new, 0, half))
                self._learn(rows.part(half, rows.count), codes[half:], _within(new, half, rows.count))
            raise diverged

    def _learn_part(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        """Let every member learn the rows, then weigh them and count."""
        return self._learn_said(self._members.learn(rows, codes, new, self._classes), codes, new)

    def _learn_said(self, said: Codes, codes: Codes, new: dict[Any, int]) -> Codes:
        """Weigh the members by what they have said to these rounds, and count."""
        leaders = _leaders(votes_of(said, self._weighed(said, codes, new), len(self._classes) + len(new)))
        # Whoever says nothing says it with all others.
        leaders[said[:, 0] < 0] = -1
        self._count(leaders, codes, new)
        return leaders

    def _weighed(self, said: Codes, codes: Codes, new: dict[Any, int]) -> npt.NDArray[np.float64]:
        """What each member weighed in each of these rounds; after it, its loss counts."""
        losses = (said != codes[:, np.newaxis]).astype(np.float64)
        if self._none_is_right(new):
            losses[0] = 0.0
        shares = np.empty(losses.shape)
        self._weighting._learn(losses, None, self._experts, shares)
        return shares

    def _none_is_right(self, new: dict[Any, int]) -> bool:
        """Whether nothing can be predicted in the first of these rounds, and None is its label."""
        return not len(self._classes) and None in new and new[None] == 0

    def _count(self, leaders: Codes, codes: Codes, new: dict[Any, int]) -> None:
        """Count the rounds and admit the new classes."""
        self._mistakes += int(np.count_nonzero(leaders != codes)) - int(self._none_is_right(new))
        self._rounds += len(codes)
        self._classes = self._classes.joined(new)

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def mistakes(self) -> int:
        return self._mistakes

    @property
    def updates(self) -> int:
        """In how many rounds it changed what it has learned: in all, because each changes what the members weigh."""
        return self._rounds

    @property
    def _converges_without(self) -> str:
        return "mistakes"

    @property
    def _reads_rows(self) -> bool:
        return False

    @property
    def members(self) -> dict[str, Any]:
        """A copy of every member, by name."""
        with self._lock:
            return self._members.copies()

    @property
    def weights(self) -> dict[str, float]:
        """What each member weighs in the next vote; they sum to 1."""
        return dict(zip(self._members.names, self._weighting.weights.tolist(), strict=True))

    @property
    def member_mistakes(self) -> dict[str, int]:
        """How many mistakes each member has made, by its own count."""
        return self._members.mistakes()

    @property
    def best_member(self) -> str:
        """The member with the fewest mistakes, the first of several."""
        mistakes = self.member_mistakes
        return min(mistakes, key=mistakes.__getitem__)

    @property
    def expected_mistakes(self) -> float:
        """The mistakes to be expected of following one member by chance, drawn by its weight in each round."""
        return float(self._weighting.loss)

    @property
    def weighting(self) -> Any:
        """A copy of the expert algorithm that weighs the members: its experts are they, its losses their mistakes."""
        with self._lock:
            return self._weighting.copy()

    @property
    def features(self) -> int:
        """The most features that a member knows of."""
        return max(int(getattr(member, "features", 0)) for member in self._members.learners)

    def certificate(self, X: Any = None, y: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given: the best member.

        All from the committee's own state, at any round; with the examples X, y that it learned from, in order (once
        for each pass), they are played again to see that the counts are theirs. X alone may be a stream or a
        libsvm file of any size.
        """
        if X is not None and y is None:
            return certify_source(self, X)
        if X is None and y is not None:
            raise invalid("y", "given together with X", y)
        with self._lock:
            return certify(self, X, y)

    # ------------------------------------------------------------------ copying, comparing, saving

    def state(self) -> dict[str, Any]:
        with self._lock:
            return {
                "rounds": self._rounds,
                "mistakes": self._mistakes,
                "updates": self._rounds,
                "classes": self._saved_classes(),
                "weighting": self._weighting.state(),
                "members": [member.state() for member in self._members.learners],
            }

    def _check_state(self, state: Any) -> None:
        rounds, _, updates = checked_counts(state)
        if updates != rounds:
            raise invalid("updates", f"as many as rounds, {rounds:,}", updates)
        classes = self._classes_in(state)
        members, names = state["members"], self._members.names
        if not isinstance(members, list) or len(members) != len(names):
            raise invalid("members", f"a list of the states of {len(names)}", members)
        require_rounds("weighting", self._weighting, state["weighting"], rounds, rounds)
        for name, member, content in zip(names, self._members.learners, members, strict=True):
            require_rounds(f"members, {name}", member, content, rounds, rounds)
            if self._labels is None and content.get("classes") != classes:
                raise invalid(
                    f"members, {name}", f"a state with the classes {shorten(classes)}", content.get("classes")
                )

    def restore(self, state: Any) -> None:
        self._require_state(state)
        self._become(state)

    def _become(self, state: Any) -> None:
        rounds, mistakes, _ = checked_counts(state)
        classes = Classes(self._classes_in(state), self._labels)
        members, weighting = self._members.fresh(), blank(self._weighting)
        weighting.restore(state["weighting"])
        for member, content in zip(members.values(), state["members"], strict=True):
            member.restore(content)
        with self._lock:
            self._members, self._weighting, self._classes = ManyMembers(members), weighting, classes
            self._rounds, self._mistakes = rounds, mistakes

    def __repr__(self) -> str:
        given = [] if self._options["learners"] is None else [counted(len(self._members.names), "learner")]
        weighting = self._options["weighting"]
        if weighting != "fixed-share":
            given.append(f"weighting={weighting if isinstance(weighting, str) else type(weighting).__name__}")
        given += [] if self._labels is None else [f"labels={shorten(self._labels, 40)}"]
        return f"MulticlassCommittee({', '.join(given)}): {self._progress()}"

    def __str__(self) -> str:
        """Everyone's mistakes and weight, in a table."""
        return table_of(self)


def _within(new: dict[Any, int], begin: int, end: int) -> dict[Any, int]:
    """The classes that begin in a part of the rows, with their places in it."""
    return {label: first - begin for label, first in new.items() if begin <= first < end}


def _leaders(votes: npt.NDArray[np.float64]) -> Codes:
    """The class of the largest weight in every round, the first of several; -1 where there is no class."""
    return np.argmax(votes, axis=1) if votes.shape[1] else np.full(len(votes), -1, dtype=np.intp)


def _votes_in(said: list[int], shares: list[float], count: int) -> list[float]:
    """What `votes_of` gives, for one round."""
    votes = [0.0] * count
    for code, share in zip(said, shares, strict=True):
        if code >= 0:
            votes[code] += share
    return votes


def _leader(votes: list[float]) -> int:
    """What `_leaders` gives, for one round."""
    return votes.index(max(votes)) if votes else -1
