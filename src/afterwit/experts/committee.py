"""A committee: learners vote, and those who have been right weigh more. Nearly as good as the best of them.

Setting     N learners of two labels, the members; y_t in {-1, +1}. In round t every member i says v_{t,i}; predict
            sgn(p_t . v_t), sgn(0) = +1, where p_t is what each member weighs.
Update      every member learns (x_t, y_t). An expert algorithm, AdaHedge unless told otherwise, sees the members' losses
            l_{t,i} = 1 if v_{t,i} != y_t, else 0, and gives p_{t+1}.
Guarantee   on any sequence and for every member i with M_i mistakes: following one member by chance, drawn by p_t, costs
            sum_t p_t . l_t <= M_i + B expected mistakes, where B is the expert algorithm's bound on the regret (AdaHedge:
            sqrt(D ln N) + 4/3 ln N + 2, with D the rounds in which members disagreed). The vote makes at most 2 (M_i + B)
            mistakes: whenever it is wrong, at least half of the weight is, so that p_t . l_t >= 1/2.
Assumes     nothing about where the examples come from, nor about the members.
Source      the vote: Littlestone & Warmuth 1994; Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.7.
            AdaHedge: de Rooij, van Erven, Grünwald & Koolen 2014, Corollary 7.

The file is compiled only because what it derives from is; all its loops are in the members and in the expert algorithm.

>>> committee = Committee(["perceptron", "repeat-last-label"])
>>> X, y = [{"a": 1}, {"b": 1}, {"a": 1}, {"b": 1}, {"a": 1}, {"b": 1}], [1, -1, 1, -1, 1, -1]
>>> committee.learn_many(X, y).tolist()
[1, 1, 1, -1, 1, -1]
>>> committee.mistakes, committee.member_mistakes
(1, {'Perceptron': 1, 'RepeatLastLabel': 5})
>>> committee.best_member, {name: round(weight, 3) for name, weight in committee.weights.items()}
('Perceptron', {'Perceptron': 0.988, 'RepeatLastLabel': 0.012})
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit._values import signature
from afterwit.errors import Words, invalid
from afterwit.experts import _members as pool
from afterwit.experts._advice import Experts
from afterwit.experts._certify_committee import ExpectedMistakesBound, VoteBound, evidence_of
from afterwit.experts._weighting import read_weighting
from afterwit.linear._rows import as_mapping

if cython.compiled:
    from cython.cimports.afterwit._learner import BinaryLearner
else:
    from afterwit._learner import BinaryLearner


@cython.cclass
class Committee(BinaryLearner):
    """Learners that vote, weighed by how often each has been right.

    learners   the members: learners of two labels (instances, which are never changed, and whose labels and what they
               have learned do not matter), their classes, or their names such as "adagrad"; in a sequence, or in a
               dict by the names they are to have. If not given, seven that are as different as they can be
    weighting  the expert algorithm that weighs them: "adahedge", "boa" or "mlpol", or a fresh instance of another one,
               made for as many experts as there are members and for losses in [0, 1]
    labels     the negative and the positive label
    """

    _members: cython.object
    _names: cython.object
    _given: cython.object
    _weighting: cython.object
    _weighting_given: cython.object
    _experts: cython.object

    theorems = (VoteBound(), ExpectedMistakesBound())
    converges_without = "mistakes"

    __signature__ = signature(learners=None, weighting="adahedge", labels=(-1, 1))

    def __init__(self, learners: Any = None, weighting: Any = "adahedge", labels: Any = (-1, 1)) -> None:
        BinaryLearner.__init__(self, labels)
        chosen = pool.default_pool() if learners is None else learners
        members = pool.read_members(chosen, self._labels.pair)
        self._names = tuple(members)
        self._members = list(members.values())
        self._given = learners is not None
        self._experts = Experts(len(members), self._names)
        self._weighting = read_weighting(weighting, self._names)
        self._weighting_given = weighting if isinstance(weighting, str) else None

    # ------------------------------------------------------------------ one round

    def score_one(self, x: Any) -> float:
        """The weight for the positive label less the weight for the negative one, from -1 to 1."""
        x = as_mapping(x)
        with self._lock:
            if isinstance(x, dict):
                said = np.array([[self._sign(member.predict_one(x)) for member in self._members]], dtype=np.int8)
            else:
                said = pool.votes(self._members, self._read_one(x), self._sign)
            return _vote(said, self._weighting.weights).item()

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x by the vote, count the round and the mistake, then let every member learn. Returns the prediction."""
        x = as_mapping(x)
        sign = self._sign(y)
        if not isinstance(x, dict):
            score = self._learn(self._read_one(x), np.full(1, sign, dtype=np.int8))[0]
        else:
            with self._lock:
                label = self._labels.positive if sign > 0 else self._labels.negative
                predictions, changed = pool.learn_features(self._members, x, label)
                said = np.array([[self._sign(prediction) for prediction in predictions]], dtype=np.int8)
                score = self._weigh(said, np.full(1, sign, dtype=np.int8), np.array([changed]))[0]
        return self._labels.positive if score >= 0 else self._labels.negative

    # ------------------------------------------------------------------ many rounds

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        with self._lock:
            said, changed = pool.learn(self._members, rows, signs, self._labels.pair, self._sign)
            if updated is not None:
                updated[:] = changed
            return self._weigh(said, signs, changed)

    def _weigh(self, said: Any, signs: Any, changed: Any) -> Any:
        """The votes of rounds that the members have learned, each by the weights before it; then count and reweigh."""
        losses = (said != signs[:, np.newaxis]).astype(np.float64)
        shares = np.empty(losses.shape)
        self._weighting._learn(losses, None, self._experts, shares)
        scores = _vote(said, shares)
        self._rounds += len(signs)
        self._updates += int(np.count_nonzero(changed))
        self._mistakes += int(np.count_nonzero((scores >= 0) != (signs > 0)))
        return scores

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
        rows = self._read(X)
        with self._lock:
            return _vote(pool.votes(self._members, rows, self._sign), self._weighting.weights)

    def _read(self, X: Any) -> Any:
        return pool.read(self._members, X)

    def _read_one(self, x: Any) -> Any:
        return pool.read_single(self._members, x)

    # ------------------------------------------------------------------ what it knows

    @property
    def members(self) -> dict[str, Any]:
        """A copy of every member, by name."""
        with self._lock:
            return {name: member.copy() for name, member in zip(self._names, self._members, strict=True)}

    @property
    def weights(self) -> dict[str, float]:
        """What each member weighs in the next vote; they sum to 1."""
        return dict(zip(self._names, self._weighting.weights.tolist(), strict=True))

    @property
    def member_mistakes(self) -> dict[str, int]:
        """How many mistakes each member has made, by its own count."""
        return {name: member.mistakes for name, member in zip(self._names, self._members, strict=True)}

    @property
    def best_member(self) -> str:
        """The member with the fewest mistakes, the first of several."""
        mistakes = self.member_mistakes
        return min(mistakes, key=mistakes.__getitem__)

    @property
    def expected_mistakes(self) -> float:
        """The mistakes to be expected of following one member by chance, drawn by its weight in each round."""
        return self._weighting.loss

    @property
    def weighting(self) -> Any:
        """A copy of the expert algorithm that weighs the members: its experts are they, its losses their mistakes."""
        with self._lock:
            return self._weighting.copy()

    @property
    def features(self) -> int:
        """The most features that a member knows of."""
        return max(getattr(member, "features", 0) for member in self._members)

    def certificate(self, X: Any = None, y: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given: the best member.

        All from the committee's own state, at any round; with the examples X, y that it learned from, in order (once
        for each pass), they are played again to see that the counts are theirs.
        """
        if (X is None) != (y is None):
            raise invalid("y", "given together with X", y)
        evidence = evidence_of(self, X, y)
        vote, expected = self.theorems
        return vote.certify(evidence, others=(expected.certify(evidence),))

    # ------------------------------------------------------------------ copying, comparing, saving

    @property
    def parameters(self) -> dict[str, Any]:
        learners = None
        if self._given:
            learners = {name: _blank(member) for name, member in zip(self._names, self._members, strict=True)}
        weighting = _blank(self._weighting) if self._weighting_given is None else self._weighting_given
        return {"learners": learners, "weighting": weighting, "labels": self._labels.pair}

    def _state(self) -> dict[str, Any]:
        state = BinaryLearner._state(self)
        state["weighting"] = self._weighting.state()
        state["members"] = [member.state() for member in self._members]
        return state

    def _check_state(self, state: Any) -> None:
        if not isinstance(state["members"], list) or len(state["members"]) != len(self._members):
            received = Words(f"{len(state['members'])}")
            raise invalid("members", f"one state for each of {len(self._members)}", received)
        if state["weighting"]["rounds"] != state["rounds"]:
            raise invalid("weighting", f"one that has seen {state['rounds']} rounds", state["weighting"]["rounds"])

    def _become(self, state: Any) -> None:
        restored = [_blank(each) for each in (self._weighting, *self._members)]
        for each, content in zip(restored, (state["weighting"], *state["members"]), strict=True):
            each.restore(content)
        self._weighting, self._members = restored[0], restored[1:]
        BinaryLearner._become(self, state)

    def __repr__(self) -> str:
        given = "" if not self._given else f"{len(self._names)} members"
        if self._weighting_given != "adahedge":
            named = self._weighting_given or type(self._weighting).__name__
            given = ", ".join(part for part in (given, f"weighting={named}") if part)
        if self.labels != (-1, 1):
            given = ", ".join(part for part in (given, f"labels={self.labels!r}") if part)
        return f"Committee({given}): {self.rounds:,} rounds, {self.mistakes:,} mistakes"

    def __str__(self) -> str:
        """Everyone's mistakes and weight, in a table."""
        rows = [*self.member_mistakes.items(), ("the committee", self.mistakes)]
        shown = [*(f"{weight:.4f}" for weight in self.weights.values()), ""]
        width = max(len(name) for name, _ in rows)
        lines = [f"{'':<{width}} {'mistakes':>12} {'error':>9} {'weight':>9}"]
        for (name, mistakes), weight in zip(rows, shown, strict=True):
            error = f"{mistakes / self.rounds:.2%}" if self.rounds else ""
            lines.append(f"{name:<{width}} {mistakes:>12,} {error:>9} {weight:>9}".rstrip())
        return "\n".join(lines)


def _vote(said: Any, shares: Any) -> Any:
    """The weight for less the weight against, in every round: added up member by member, so that many rounds are
    exactly one and one and one."""
    score = np.zeros(len(said))
    for i in range(said.shape[1]):
        score += shares[..., i] * said[:, i]
    return np.clip(score, -1.0, 1.0)


def _blank(learner: Any) -> Any:
    """A fresh one, made with the same."""
    return type(learner)(**learner.parameters)
