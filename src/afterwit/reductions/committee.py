"""A committee: learners whose probabilities are mixed, by how good they have been. Nearly as good as the best of them.

Setting     N learners of two labels, the members; y_t in {-1, +1}. In round t member i gives label y the probability
            q_{t,i}(y). The committee gives it sum_i p_{t,i} q_{t,i}(y), where p_t is what each member weighs, and
            predicts +1 if that is at least 1/2 for +1. Its score is the logarithm of the odds.
Update      every member learns (x_t, y_t). Member i lost -ln q_{t,i}(y_t) in this round, and 1 more if it was wrong;
            p_{t+1} is that of fixed share with alpha = 1/1000 at the rate 1/4.
Guarantee   on any sequence, for every member with log loss L and M mistakes, after T rounds: the log loss of the
            committee is at most L + M + 4C with C = ln N + (T - 1) ln(1/(1 - alpha)). A mistake costs at least ln 2 of
            log loss, so that it makes at most (L + M + 4C) / ln 2 mistakes.
Votes       with an expert algorithm as ``weighting`` the members vote: predict sgn(p_t . v_t), sgn(0) = +1, where
            v_{t,i} is what member i predicts, and p_t comes from the losses l_{t,i} = 1 if v_{t,i} != y_t, else 0.
            Following one member by chance, drawn by p_t, costs sum_t p_t . l_t <= M_i + B expected mistakes for every
            member i with M_i mistakes, where B is the expert algorithm's bound on the regret (AdaHedge: sqrt(D ln N) +
            4/3 ln N + 2, with D the rounds in which members disagreed). The vote makes at most 2 (M_i + B) mistakes:
            whenever it is wrong at least half of the weight is, so that p_t . l_t >= 1/2.
Assumes     nothing about where the examples come from, nor about the members.
Source      fixed share: Herbster & Warmuth 1998; log loss: Cesa-Bianchi & Lugosi 2006, section 3.3; the proof is in
            `MixtureLossBound`. The vote: Littlestone & Warmuth 1994; Mohri, Rostamizadeh & Talwalkar 2018, section
            8.2.2. AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014, Corollary 7.

The file is compiled only because what it derives from is; all its loops are in the members and in the weighting.

>>> committee = Committee(["perceptron", "repeat-last-label"])
>>> X, y = [{"a": 1}, {"b": 1}, {"a": 1}, {"b": 1}, {"a": 1}, {"b": 1}], [1, -1, 1, -1, 1, -1]
>>> committee.learn_many(X, y).tolist()
[1, 1, 1, -1, 1, -1]
>>> committee.mistakes, committee.member_mistakes
(1, {'Perceptron': 1, 'RepeatLastLabel': 5})
>>> committee.best_member, {name: round(weight, 3) for name, weight in committee.weights.items()}
('Perceptron', {'Perceptron': 0.769, 'RepeatLastLabel': 0.231})
>>> round(committee.predict_proba_one({"b": 1})[-1], 3)
0.692
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis, certify
from afterwit.core.declared import LABELS, Option, copied
from afterwit.core.sources import certify_source
from afterwit.core.theorem import Theorem
from afterwit.core.turns import Rounds, parts
from afterwit.data.advice import Experts
from afterwit.data.rows import as_mapping
from afterwit.errors import DivergenceError, InputError, counted, invalid, shorten
from afterwit.experts._engine import ExpertLearner
from afterwit.reductions._binary import blank, require_rounds
from afterwit.reductions._members import Members, default_pool, read_members, voting_pool
from afterwit.reductions._weighting import MIXTURE, read_weighting

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
else:
    from afterwit.core.learner import BinaryLearner


class MixtureLossBound(Theorem):
    """The mixture: the log loss of the best member and its mistakes, and what it costs not to know which it is.

    Proof. Let c_{t,i} be what member i gave the label that came, z_{t,i} = 1 if it was wrong and 0 otherwise, and
    m_t = -ln sum_i p_{t,i} exp(-(z_{t,i} - ln c_{t,i}) / 4). The product of the sums is at least the part of member i
    alone, of which every round but the last keeps 1 - alpha at least: sum_t m_t <= (L + M) / 4 + C. On the other side,
    as z >= 0 and the fourth root is concave, m_t >= -ln sum_i p_{t,i} c_{t,i}^(1/4) >= -1/4 ln sum_i p_{t,i} c_{t,i}, a
    quarter of the log loss of the mixture.
    """

    name = "mixture bound"
    quantity = "log loss"
    formula = "L + M + 4C, C = ln N + (T - 1) ln(1/(1 - alpha)), L and M those of the best member"
    citation = "Herbster & Warmuth 1998, for log loss; the proof is that of MixtureLossBound"
    beside = True

    @staticmethod
    def bound(loss: Any, mistakes: Any, members: Any, rounds: Any, share: Any) -> Any:
        return loss + mistakes + 4 * (math.log(members) - max(rounds - 1, 0) * math.log1p(-share))

    def certify(self, evidence: Any) -> Any:
        return None if evidence.votes else evidence.certificate(self, self.of(evidence), evidence.inputs)

    def of(self, evidence: Any) -> Any:
        return self.bound(*evidence.inputs.values())


class MixtureMistakesBound(MixtureLossBound):
    """The same in mistakes: in each of them the label that came had at most the probability 1/2."""

    name = "mixture bound on mistakes"
    quantity = "mistakes"
    formula = "(L + M + 4C) / ln 2, C = ln N + (T - 1) ln(1/(1 - alpha)), L and M those of the best member"
    beside = False

    @staticmethod
    def bound(loss: Any, mistakes: Any, members: Any, rounds: Any, share: Any) -> Any:
        return MixtureLossBound.bound(loss, mistakes, members, rounds, share) / math.log(2)


class VoteBound(Theorem):
    """The vote: in a round in which it is wrong, following a member by chance costs at least half a mistake."""

    name = "vote bound"
    quantity = "mistakes"
    formula = "2 (M + B), M those of the best member, B the weighting's bound on the regret"
    citation = "half of the weight is wrong when the vote is: Littlestone & Warmuth 1994; the weighting's own theorem"

    @staticmethod
    def bound(promised: Any) -> Any:
        return 2 * promised

    def certify(self, evidence: Any) -> Any:
        if not evidence.votes:
            return None
        half = Assumption(
            "in a round in which the vote is wrong, so is at least half of the weight", Basis.ENFORCED, True
        )
        return evidence.certificate(self, self.bound(evidence.promised), evidence.inputs, half)


class ExpectedMistakesBound(Theorem):
    """Following one member by chance: the best member's mistakes and the regret."""

    name = "bound on following a member by chance"
    quantity = "expected mistakes"
    formula = "M + B, M those of the best member, B the weighting's bound on the regret"
    citation = "the weighting's own theorem on zero-one losses"

    @staticmethod
    def bound(promised: Any) -> Any:
        return promised

    def certify(self, evidence: Any) -> Any:
        if not evidence.votes:
            return None
        return evidence.certificate(self, self.bound(evidence.promised), evidence.inputs)


def _two_labels(parameter: str, labels: Any) -> Any:
    if isinstance(labels, (list, tuple)) and len(labels) > 2:
        raise invalid(parameter, "two labels; for more there is MulticlassCommittee", labels)
    return LABELS.check(parameter, labels)


@cython.cclass
class Committee(BinaryLearner):
    """Learners whose probabilities are mixed, or who vote, weighed by how good each has been.

    learners   the members: learners of two labels (instances, which are never changed, and whose labels and what they
               have learned do not matter), their classes, or their names such as "adagrad"; in a sequence, or in a
               dict by the names they are to have. If not given, ten that are as different as they can be
    weighting  "mixture", or for a vote the expert algorithm that weighs the members: "fixed-share", "adahedge", "boa"
               or "mlpol", or a fresh instance of another one, made for as many experts as there are members and for
               losses in [0, 1]
    labels     the negative and the positive label
    """

    _members: cython.object
    _weighting: cython.object
    _experts: cython.object
    _votes: cython.bint

    theorems = (MixtureMistakesBound(), MixtureLossBound(), VoteBound(), ExpectedMistakesBound())
    checker = "committee"
    converges_without = "mistakes"
    options = (Option("learners", None), Option("weighting", MIXTURE), Option("labels", None, _two_labels))

    def _begin(self) -> None:
        BinaryLearner._begin(self)
        given = self._options["learners"]
        pool = default_pool if self._options["weighting"] == MIXTURE else voting_pool
        members = read_members(pool() if given is None else given, self._labels)
        weighting = read_weighting(self._options["weighting"], tuple(members))
        if given is not None:
            self._options["learners"] = members
        if not isinstance(self._options["weighting"], str):
            self._options["weighting"] = weighting
        self._experts = Experts(len(members), tuple(members))
        self._members = Members({name: blank(member) for name, member in members.items()}, self._labels)
        self._weighting = blank(weighting)
        self._votes = isinstance(weighting, ExpertLearner)

    def _take_labels(self, labels: Any) -> None:
        """The members go on with the new labels."""
        BinaryLearner._take_labels(self, labels)
        if self._options["learners"] is not None:
            self._options["learners"] = read_members(self._options["learners"], labels)
        before = self._members
        members = read_members(dict(zip(before.names, before.learners, strict=True)), labels)
        for member, old in zip(members.values(), before.learners, strict=True):
            member.restore(old.state())
        self._members = Members(members, labels)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the committee was made with; once it has learned, its members too, if it was made without.

        Another version may choose others, and a saved committee has to know its own.
        """
        found = {name: copied(value) for name, value in self._options.items()}
        if found["learners"] is None and self._rounds:
            found["learners"] = self._members.fresh()
        return found

    # ------------------------------------------------------------------ one round

    def score_one(self, x: Any) -> float:
        """The logarithm of the odds of the positive label.

        Where the members vote: the weight for the positive label less that for the negative one, from -1 to 1.
        """
        x = as_mapping(x)
        row = self._members.shared_row(x)
        if row is None:
            return self.score_many(self._read_one(x)).item()
        with self._lock:
            return self._combined(self._members.scores_on(row)).item()

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x, count the round and the mistake, let every member learn. Returns the prediction."""
        sign: cython.int = self._sign(y)
        score: cython.double
        x = as_mapping(x)
        row = self._members.shared_row(x)
        if row is not None:
            with self._lock, Rounds():
                said, changed = self._members.learn_on(row, sign)
                score = self._weigh(said, np.full(1, sign, dtype=np.int8)).item()
                self._count(1, (score >= 0) != (sign > 0), changed)
        else:
            score = self._learn(self._read_one(x), np.full(1, sign, dtype=np.int8))[0]
        if self._undecided:
            self._decide([y])
        return self._labels.positive if score >= 0 else self._labels.negative

    def _combined(self, said: Any) -> Any:
        """The scores of the committee for what the members say, each row as if it came next."""
        if self._votes:
            return _votes_of(said, self._weighting.weights)
        return self._weighting.scores(said, self._members.speaking)

    def _weigh(self, said: Any, signs: Any) -> Any:
        """The same in order, each row weighed by those before it, and then the members by what they said to it."""
        if not self._votes:
            return self._weighting.learn(said, self._members.speaking, signs)
        wrong = (said >= 0) != (signs > 0)[:, np.newaxis]
        shares = np.empty(said.shape)
        self._weighting._learn(wrong.astype(np.float64), None, self._experts, shares)
        return _votes_of(said, shares)

    # ------------------------------------------------------------------ many rounds

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        changed = np.zeros(rows.count, dtype=bool)
        with self._lock, Rounds():
            scores = self._learn_block(rows, signs, changed)
        if updated is not None:
            updated[:] = changed
        return scores

    def _learn_block(self, rows: Any, signs: Any, changed: Any) -> Any:
        """Learn all rows or none; but if a member diverges, or somebody wants to stop, the rounds before it."""
        if rows.count < 2:
            return self._learn_part(rows, signs, changed)
        before = self._state()
        scores = np.empty(rows.count)
        try:
            for begin, end in parts(rows.count):
                part = rows if end - begin == rows.count else rows.part(begin, end)
                scores[begin:end] = self._learn_part(part, signs[begin:end], changed[begin:end])
            return scores
        except DivergenceError as error:
            self._become(before)
            diverged = error
        except Exception:
            self._become(before)
            raise
        # Half of the rows, and so on, until it is only the round in which a member diverges that is not learned.
        half = rows.count // 2
        with suppress(InputError):  # what a single round is refused with, whose score overflows
            self._learn_block(rows.part(0, half), signs[:half], changed[:half])
            self._learn_block(rows.part(half, rows.count), signs[half:], changed[half:])
        raise diverged

    def _learn_part(self, rows: Any, signs: Any, changed: Any) -> Any:
        """Let every member learn the rows, then weigh them and count."""
        said, changed[:] = self._members.learn(rows, signs)
        return self._learn_said(said, signs, changed)

    def _learn_said(self, said: Any, signs: Any, changed: Any) -> Any:
        """Weigh the members by what they have said to these rounds, in which some of them ``changed``, and count."""
        scores = self._weigh(said, signs)
        self._count(len(signs), np.count_nonzero((scores >= 0) != (signs > 0)), np.count_nonzero(changed))
        return scores

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
        rows = self._read(X)
        with self._lock:
            return self._combined(self._members.scores(rows))

    def _read(self, X: Any) -> Any:
        return self._members.read(X)

    def _read_one(self, x: Any) -> Any:
        return self._members.read_one(x)

    # ------------------------------------------------------------------ what it knows

    @property
    def members(self) -> dict[str, Any]:
        """A copy of every member, by name."""
        with self._lock:
            return self._members.copies()

    @property
    def weights(self) -> dict[str, float]:
        """What each member weighs in the next round; they sum to 1."""
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
    def scores_are_votes(self) -> bool:
        """Whether the score is 1 or -1 wherever the members agree: classes cannot be ranked by it."""
        return self._votes

    @property
    def gives_probabilities(self) -> bool:
        """Whether it has probabilities: not if its members vote."""
        return not self._votes

    @property
    def log_loss(self) -> Any:
        """The log loss of its probabilities so far, each before the label was seen; None if its members vote."""
        return None if self._votes else self._weighting.loss

    @property
    def member_losses(self) -> Any:
        """The log loss of every member so far, by name; None if they vote."""
        if self._votes:
            return None
        return dict(zip(self._members.names, self._weighting.member_losses.tolist(), strict=True))

    @property
    def expected_mistakes(self) -> Any:
        """The mistakes to be expected of following one member by chance, drawn by its weight in each round.

        None if the members do not vote.
        """
        return self._weighting.loss if self._votes else None

    @property
    def weighting(self) -> Any:
        """A copy of what weighs the members: of an expert algorithm they are the experts, its losses their mistakes."""
        with self._lock:
            return self._weighting.copy()

    @property
    def zero_is_absent(self) -> bool:
        """Whether it is to every member."""
        return all(getattr(member, "zero_is_absent", True) for member in self._members.learners)

    @property
    def features(self) -> int:
        """The most features that a member knows of."""
        return max(getattr(member, "features", 0) for member in self._members.learners)

    def certificate(self, X: Any = None, y: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given: the best member.

        All from the committee's own state, at any round; with the examples X, y that it learned from, in order (once
        for each pass), they are played again to see that the counts are theirs. X alone may be a stream or a
        libsvm file of any size.
        """
        if X is not None and y is None:
            return certify_source(self, X)
        if X is None and y is not None:
            raise invalid("y", "given together with X", y)
        return certify(self, X, y)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        members = [member.state() for member in self._members.learners]
        return {**self._counts(), "weighting": self._weighting.state(), "members": members}

    def _check_state(self, state: Any) -> None:
        members, count = state["members"], len(self._members.names)
        if not isinstance(members, list) or len(members) != count:
            raise invalid("members", f"a list of the states of {count}", members)
        require_rounds("weighting", self._weighting, state["weighting"], state["rounds"], state["rounds"])
        for name, member, content in zip(self._members.names, self._members.learners, members, strict=True):
            require_rounds(f"members, {name}", member, content, state["rounds"], state["rounds"])

    def _become(self, state: Any) -> None:
        members, weighting = self._members.fresh(), blank(self._weighting)
        weighting.restore(state["weighting"])
        for member, content in zip(members.values(), state["members"], strict=True):
            member.restore(content)
        self._members, self._weighting = Members(members, self._labels), weighting
        BinaryLearner._become(self, state)

    def __repr__(self) -> str:
        pool = voting_pool() if self._votes else default_pool()
        is_default = self._members.names == tuple(read_members(pool, self._labels))
        given = [] if is_default else [counted(len(self._members.names), "learner")]
        weighting = self._options["weighting"]
        if weighting != MIXTURE:
            given.append(f"weighting={weighting if isinstance(weighting, str) else type(weighting).__name__}")
        given.append(f"labels={shorten(self.labels, 40)}")
        return f"Committee({', '.join(given)}): {counted(self.rounds, 'round')}, {counted(self.mistakes, 'mistake')}"

    def __str__(self) -> str:
        """Everyone's mistakes and weight, in a table."""
        return table_of(self)


def table_of(committee: Any) -> str:
    """Everyone's mistakes and weight, in a table."""
    rows = [*committee.member_mistakes.items(), ("the committee", committee.mistakes)]
    shown = [*(f"{weight:.4f}" for weight in committee.weights.values()), ""]
    width = max(len(name) for name, _ in rows)
    lines = [f"{'':<{width}} {'mistakes':>12} {'error':>9} {'weight':>9}"]
    for (name, mistakes), weight in zip(rows, shown, strict=True):
        error = f"{mistakes / committee.rounds:.2%}" if committee.rounds else ""
        lines.append(f"{name:<{width}} {mistakes:>12,} {error:>9} {weight:>9}".rstrip())
    return "\n".join(lines)


def _votes_of(said: Any, shares: Any) -> Any:
    """The weight for less the weight against, in every round.

    It is added up member by member, so that many rounds are exactly one and one and one.
    """
    scores = np.zeros(len(said))
    for i in range(said.shape[1]):
        scores += np.where(said[:, i] >= 0, shares[..., i], -shares[..., i])
    return np.clip(scores, -1.0, 1.0)
