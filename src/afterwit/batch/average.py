"""The average of all hypotheses of a linear learner.

Setting     T examples drawn independently from one distribution; w_t are the weights before round t; a convex loss
            l(s, y) of the score s, of which no example and no w_t can make more than M; R(w) is the expected loss of
            w on new data.
Procedure   play all rounds, return (w_1 + ... + w_T) / T. (`AveragedPerceptron` predicts by (w_2 + ... + w_{T+1}) / T.)
Guarantee   with probability at least 1 - delta each of
            R(average) <= (1/T) sum_t l(w_t . x_t, y_t) + M sqrt(2 ln(1/delta) / T)
            R(average) <= inf_u R(u) + R_T / T + 2 M sqrt(2 ln(2/delta) / T), with R_T the regret.
            A mistake costs at least 1 of the hinge loss, ln 2 of the logistic, 1/2 of the squared loss: so the first
            bounds the error too.
Assumes     M. It is known where the weights stay in a ball and the examples within a radius (SGD with a ball,
            OnlineSVM, Winnow, and ``radius``); else it is your promise, ``largest_loss``. With neither there is no
            bound: the weights of a perceptron have no length that is known beforehand. A learner that starts outside
            its ball, because it has already learned longer examples, has M by the length of its first weights: no
            later ones are longer, and w_1 is known before the sample, as the inequality for martingales needs it.
Memory      two weight vectors. Cost: O(non-zeros) for the perceptron, O(features) more in each round that changes the
            weights for the others.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Theorem 8.15.

>>> from afterwit import SGD, adversaries
>>> stream = adversaries.separable(20_000, 5, margin=0.3, seed=0)
>>> predictor = average(SGD(loss="hinge", rate=0.1, ball=4.0, intercept=False), stream, radius=1.0)
>>> print(predictor.certificate.line())
averaged hypothesis, error: error at most 0.08754, with probability 95% (holds; Mohri et al. 2018, Theorem 8.15)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.batch._linear import Columns, Floats, has_fresh_weights, is_linear, reserved
from afterwit.batch._rounds import Block, Source, fresh_copy
from afterwit.batch._theorem import BatchEvidence, BatchTheorem
from afterwit.batch.frozen import FrozenPredictor
from afterwit.batch.progressive import MEAN_LOSS, ProgressiveBound
from afterwit.core.certificate import Assumption, Basis, Certificate, apply
from afterwit.core.inputs import CHANCE, DELTA, IID, LOSS_RANGE, ROUNDS
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import is_number, one_of, optional, positive_number, share
from afterwit.data.margin_losses import losses
from afterwit.data.quantities import NOT_NEGATIVE, ln
from afterwit.errors import InputError, invalid
from afterwit.hindsight.comparator import row_norms
from afterwit.linear.online_svm import OnlineSVM
from afterwit.linear.perceptron import Perceptron

#: How much of each loss a mistake costs at least.
COST_OF_A_MISTAKE = {"hinge": 1.0, "logistic": math.log(2), "squared": 0.5}
LOSSES = (*COST_OF_A_MISTAKE, "perceptron")
AVERAGED = f"{IID}; the loss is convex in the prediction and between 0 and M, and the hypotheses are averaged"


@dataclass(frozen=True, kw_only=True)
class AverageEvidence(BatchEvidence):
    """A run whose hypotheses were averaged; what happened is the mean loss."""

    delta: float
    loss: str
    mistakes: int
    #: The most that an example can cost; infinite if that is not known.
    largest_loss: float
    #: What the caller promises that the regret does not exceed, if anything.
    regret: float | None

    def observed(self, theorem: Theorem) -> float:
        return self.mistakes / self.rounds if theorem.quantity == "error" else self.happened

    @property
    def inputs(self) -> dict[str, float | str]:
        """What certificates show beside the bound."""
        shown: dict[str, float | str] = {"loss": self.loss, "T": self.rounds, "delta": self.delta}
        shown["observed"] = "while learning"
        return {**shown, "M": self.largest_loss} if math.isfinite(self.largest_loss) else shown


class AverageLoss(BatchTheorem):
    """A convex loss of the average is at most the average loss."""

    id = "average"
    name = "averaged hypothesis"
    quantity = "loss"
    formula_quantity = "risk"
    formula = ProgressiveBound.formula
    inputs = (MEAN_LOSS, ROUNDS, DELTA, LOSS_RANGE)
    needs = AVERAGED
    citation = "Mohri et al. 2018, Theorem 8.15"
    chance = CHANCE
    foreseeable = False
    largest = "M"

    @staticmethod
    def bound(mean_loss: Any, rounds: Any, delta: Any, loss_range: Any) -> Any:
        return ProgressiveBound.bound(mean_loss, rounds, delta, loss_range)

    def certify(self, evidence: Any) -> Certificate:
        bound = self.bound(evidence.happened, evidence.rounds, evidence.delta, evidence.largest_loss)
        return self.applied(evidence, bound, evidence.inputs)


class AverageError(BatchTheorem):
    """The same for the error, where every mistake costs at least c of the loss."""

    name = "averaged hypothesis, error"
    formula = "(L + M sqrt(2 ln(1/delta) / T)) / c"
    citation = AverageLoss.citation
    foreseeable = False

    @staticmethod
    def bound(mean_loss: Any, rounds: Any, delta: Any, loss_range: Any, cost: Any) -> Any:
        return AverageLoss.bound(mean_loss, rounds, delta, loss_range) / cost

    def certify(self, evidence: Any) -> Certificate | None:
        if evidence.loss not in COST_OF_A_MISTAKE:
            return None
        cost = COST_OF_A_MISTAKE[evidence.loss]
        bound = self.bound(evidence.happened, evidence.rounds, evidence.delta, evidence.largest_loss, cost)
        return self.applied(evidence, bound, {**evidence.inputs, "c": cost, "mean loss": evidence.happened})


class AverageExcess(BatchTheorem):
    """The loss of the average beyond that of the best comparator."""

    id = "average-excess"
    name = "averaged hypothesis, beyond the best"
    quantity = "loss beyond the best"
    formula_quantity = "risk - inf risk"
    formula = "{regret} / {rounds} + 2 {loss_range} sqrt(2 ln(2/{delta}) / {rounds})"
    inputs = (Input("regret", "R_T", "the learner's regret", NOT_NEGATIVE), ROUNDS, DELTA, LOSS_RANGE)
    needs = AVERAGED
    citation = AverageLoss.citation
    chance = CHANCE
    foreseeable = False
    largest = "M"

    @staticmethod
    def bound(regret: Any, rounds: Any, delta: Any, loss_range: Any) -> Any:
        return regret / rounds + 2 * loss_range * np.sqrt(2 * ln(2 / delta) / rounds)

    def certify(self, evidence: Any) -> Certificate | None:
        regret, rounds = evidence.regret, evidence.rounds
        if regret is None:
            return None
        bound = self.bound(regret, rounds, evidence.delta, evidence.largest_loss)
        promise = Assumption(f"the regret is at most {regret:.4g}", Basis.PROMISED, None)
        return self.applied(
            evidence, bound, {**evidence.inputs, "R_T": float(regret)}, promise, observed=regret / rounds
        )


def average(
    learner: Any,
    X: Any,
    y: Any = None,
    *,
    loss: Any = "hinge",
    radius: Any = None,
    largest_loss: Any = None,
    regret: Any = None,
    delta: Any = 0.05,
) -> FrozenPredictor:
    """The averaged hypothesis; its ``learner`` is a `Perceptron` with these weights.

    learner       a linear learner, where to begin; it is copied, and never changed
    X, y          examples and labels, or a stream in place of both
    loss          "hinge", "logistic", "squared" or "perceptron": the convex loss that is bounded, whatever the
                  learner's own
    radius        your promise that no example is longer; M follows for learners whose weights stay in a ball
    largest_loss  your promise of M itself
    regret        a number that the learner's regret in this loss does not exceed, for the second bound
    delta         how likely each bound may fail
    """
    delta = share("delta", delta)
    loss = one_of(LOSSES)("loss", loss)
    radius = optional(positive_number)("radius", radius)
    largest_loss = optional(positive_number)("largest_loss", largest_loss)
    if regret is not None and not (is_number(regret) and math.isfinite(regret)):
        raise invalid("regret", "a number", regret)
    if not is_linear(learner):
        raise invalid("learner", "a linear learner, whose score is w . x", type(learner))
    played = _Average(fresh_copy(learner, X, y), loss, radius is not None)
    with Source(learner, X, y) as source:
        for block in source.blocks():
            played.take(block)
    if played.rounds == 0:
        raise InputError("X must be at least one example; received none")
    M, known = _largest_loss(learner, loss, radius, largest_loss, played)
    evidence = AverageEvidence(
        subject=f"average of {type(learner).__name__}",
        rounds=played.rounds,
        happened=played.total / played.rounds,
        assumptions=known,
        delta=delta,
        loss=loss,
        mistakes=played.mistakes,
        largest_loss=M,
        regret=regret,
    )
    certificate = apply((AverageError(delta), AverageLoss(delta), AverageExcess(delta)), evidence)
    return FrozenPredictor(played.predictor(), "average", certificate)


class _Average:
    """The sum of the weights before every round, and what the rounds cost."""

    def __init__(self, learner: Any, loss: str, measure: bool) -> None:
        self.learner = learner
        self.loss = loss
        self.measure = measure
        self.sum = np.zeros(0)
        self.rounds = self.mistakes = self.changes = 0
        self.total = self.largest = self.longest = 0.0
        #: The largest |w_t| of those that were averaged; only learners that stay in a ball are asked for it.
        self.longest_weights = 0.0

    def take(self, block: Block) -> None:
        before = self.learner.copy()
        played = block.learn(self.learner)
        assert played.scores is not None
        cost = losses(self.loss, played.signs, played.scores)
        self.total += float(cost.sum())
        self.largest = max(self.largest, float(cost.max()))
        rows = self.learner._checked(block.X, block.y)[0]
        if self.measure:
            self.longest = max(self.longest, float(row_norms(rows.matrix()).max()))
        changes = np.flatnonzero(played.changed)
        if type(self.learner) is Perceptron:
            self._add(block.count * before._vector())
            self._add(self._additions(rows, played.signs, changes, block.count))
        else:
            self._replay(before, block, changes)
        self.rounds += block.count
        self.mistakes += int(np.count_nonzero(played.mistaken))
        self.changes += len(changes)

    def _additions(self, rows: Any, signs: Any, changes: Any, count: int) -> Floats:
        """What the examples added in these rounds are in the sum: each is there in all rounds after its own."""
        factors = self.learner.rate * (count - 1 - changes) * signs[changes]
        length = len(self.learner._vector())
        total = Columns(self.learner, rows).back(rows.matrix()[changes].T @ factors, length)
        if reserved(self.learner):
            total[0] = factors.sum()
        return total

    def _replay(self, learner: Any, block: Block, changes: Any) -> None:
        """The block once more, with a stop after every change."""
        at = 0
        for change in [*changes.tolist(), block.count - 1]:
            if change + 1 > at:
                weights = learner._vector()
                self.longest_weights = max(self.longest_weights, float(np.linalg.norm(weights)))
                block.part(at, change + 1).learn(learner)
                if has_fresh_weights(learner):
                    weights = self._over_all_features(learner, weights)
                self._add((change + 1 - at) * weights)
                at = change + 1

    def _over_all_features(self, learner: Any, weights: Floats) -> Floats:
        """The weights of Winnow before these rounds, which may have brought the features: in the first, all alike."""
        length = len(learner._vector())
        if len(weights) == length:
            return weights
        if len(weights) > reserved(learner):
            raise InputError(
                f"X must be rows of one width for {type(learner).__name__}, whose weights change with every new feature"
            )
        return np.full(length, 0.0 if learner._signed else 1 / length)

    def _add(self, vector: Floats) -> None:
        if len(vector) > len(self.sum):
            self.sum = np.concatenate([self.sum, np.zeros(len(vector) - len(self.sum))])
        self.sum[: len(vector)] += vector

    def predictor(self) -> Any:
        """A linear learner with the averaged weights."""
        found = Perceptron(intercept=bool(reserved(self.learner)), labels=self.learner.labels)
        learned = self.learner.state()
        length = len(self.learner._vector())
        weights = np.concatenate([self.sum, np.zeros(length - len(self.sum))]) / self.rounds
        counts = {"rounds": self.rounds, "mistakes": self.mistakes, "updates": self.changes}
        numbering = {name: learned[name] for name in ("names", "by_id") if name in learned}
        found.restore({**counts, "weights": weights, **numbering})
        return found


def _largest_loss(
    learner: Any, loss: str, radius: float | None, largest_loss: float | None, played: _Average
) -> tuple[float, tuple[Assumption, ...]]:
    """M, and how it is known; infinite if it is not."""
    if largest_loss is not None:
        kept = played.largest <= largest_loss
        detail = f"the largest here was {played.largest:.4g}"
        statement = f"no example costs any of the hypotheses more than M = {largest_loss:.4g}"
        return largest_loss, (Assumption(statement, Basis.PROMISED, None if kept else False, detail),)
    limit = _limit_of_weights(learner, 1.0 if radius is None else radius)
    if radius is None or limit is None:
        detail = f"nothing bounds the weights of {type(learner).__name__}: give largest_loss"
        detail = detail if limit is None else "give radius, or largest_loss"
        return math.inf, (Assumption("the loss is at most some M that is known", Basis.ENFORCED, False, detail),)
    M = float(losses(loss, np.ones(1), np.array([-limit.size * _length(learner, radius)]))[0])
    kept = played.longest <= radius * (1 + 1e-9)
    within = Assumption(
        f"no example is longer than R = {radius:.4g}",
        Basis.PROMISED,
        None if kept else False,
        f"the longest here has {played.longest:.4g}",
    )
    bounded = not kept or limit.one_norm or played.longest_weights <= limit.size * (1 + 1e-9)
    return M, (within, Assumption(f"the loss is at most M = {M:.4g}", Basis.ENFORCED, bounded, limit.because))


@dataclass(frozen=True)
class _Limit:
    """What no weights of a run exceed in length, or in 1-norm, and why."""

    size: float
    because: str
    one_norm: bool = False


def _limit_of_weights(learner: Any, radius: float) -> _Limit | None:
    """What is known of the weights w_1, ..., w_T before the sample: of w_1 itself, and of what the updates do."""
    parameters = learner.parameters
    if has_fresh_weights(learner):
        return _Limit(1.0, "the weights have a 1-norm of at most 1", one_norm=True)
    if parameters.get("ball") is not None:
        limit = _Limit(float(parameters["ball"]), "the weights stay in a ball")
    elif isinstance(learner, OnlineSVM):
        # A round makes them at most (1 - eta) |w| + eta C R long, which is at most the larger of |w| and C R.
        limit = _Limit(float(parameters["C"]) * _length(learner, radius), "the weights are never longer than C R")
    else:
        return None
    start = float(np.linalg.norm(learner._vector()))
    if start > limit.size:
        return _Limit(start, f"the weights are never longer than those the learner starts with, |w_1| = {start:.4g}")
    return limit


def _length(learner: Any, radius: float) -> float:
    """How long an example can be, with the further feature of an intercept."""
    return math.hypot(radius, 1.0) if learner.parameters.get("intercept") else radius
