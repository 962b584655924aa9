# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Online ridge regression, as Vovk, Azoury and Warmuth have it: least squares in which the example to come counts too.

Setting     x_t in R^n, y_t a number; predict a number p_t; the loss is (p_t - y_t)^2.
Update      p_t = x_t^T A_t^{-1} b_{t-1}  with  A_t = a I + sum over s <= t of x_s x_s^T,  b_t = sum over s <= t of
            y_s x_s. The x_t to be predicted is in A_t already, its y_t is not in b_{t-1}: predictions are nearer to 0
            than those of ridge regression, the more so the less is known about examples such as x_t.
Guarantee   on any sequence and for every u, with Y the largest |y_t|:
            sum (p_t - y_t)^2 <= sum (u . x_t - y_t)^2 + a |u|^2 + Y^2 ln det(I + sum x_t x_t^T / a)
            and ln det(...) <= n ln(1 + T R^2 / (n a)) for |x_t| <= R. The example's share q_t = x_t^T A_t^{-1} x_t
            gives more: with sum y_t^2 q_t in the place of Y^2 ln det(...) it is still true.
Assumes     nothing about where the examples come from, nor that Y or R is known.
Why         with alpha_t = 1 / (1 - q_t): sum (p_t - y_t)^2 = min over u of (sum (u . x_t - y_t)^2 + a |u|^2)
            + sum y_t^2 q_t - sum p_t^2 (alpha_t - 1), to the last digit; and q_t <= ln alpha_t, of which the sum is
            ln det(A_T / a).
Numbers     kept are w = A^{-1} b, the weights of ridge regression, and A^{-1} = U D U^T with U upper triangular, ones
            on its diagonal, and D diagonal (Bierman's update: no two large numbers are subtracted, D stays positive).
            With f = U^T x: alpha_t = 1 + f^T D f for the factors before the round, p_t = w . x_t / alpha_t. A round
            takes about 2 n^2 multiplications, a new feature one more column of U.
Units       the penalty is the same for every feature, the intercept's constant 1 among them. A feature in a smaller
            unit (larger numbers) is penalised less. Where units differ by much, divide every feature by what is usual
            for it, or take `ScaleFreeRegressor` or `RegressionCommittee`, which do not depend on units.
Source      Vovk 2001, Competitive on-line statistics, Theorem 1; Azoury & Warmuth 2001; Bierman 1977 for the factors.

>>> learner = OnlineRidge(intercept=False)
>>> for hours, cost in ((1.0, 3.0), (2.0, 6.0), (4.0, 12.0)):
...     print(round(learner.learn_one([hours], cost), 3))
0.0
1.0
2.727
>>> learner.weights.tolist(), round(learner.rmse, 3)
([2.8636363636363638], 6.324)
>>> certificate = learner.certificate([[1.0], [2.0], [4.0]], [3.0, 6.0, 12.0])
>>> str(certificate.verdict), round(certificate.observed, 1), round(certificate.bound, 1)
('holds', 120.0, 141.8)
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.declared import LABELS, Option
from afterwit.core.inputs import NORM, RADIUS, ROUNDS
from afterwit.core.learner import view
from afterwit.core.theorem import Input
from afterwit.data.checks import FLOAT_MAX, optional, positive_number, whole_number
from afterwit.data.quantities import COUNT, NOT_NEGATIVE, POSITIVE
from afterwit.data.room import require_room
from afterwit.data.rows import LARGEST_POSITION
from afterwit.errors import Words, counted, invalid
from afterwit.linear._regressor import INTERCEPT, LinearRegressor
from afterwit.linear._regret import RegretBound
from afterwit.linear._stops import MODERATE

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.afterwit.linear._products import product
else:
    from afterwit.linear._engine import LinearLearner
    from afterwit.linear._products import product

#: There is a number for every pair of features: with more of these it would be 64 MB and more, and a round 10 ms.
MOST_FEATURES = 4096
NOT_A_NUMBER = cython.declare(cython.double, float("nan"))
LARGEST = cython.declare(cython.double, FLOAT_MAX)
LAST = cython.declare(cython.Py_ssize_t, LARGEST_POSITION + 2)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def column_of(
    factor: cython.double[::1], begin: cython.Py_ssize_t, row: cython.double[::1], length: cython.Py_ssize_t
) -> cython.double:
    """The product of a column of U, without its diagonal, with the row: entry i goes to running sum i mod 4."""
    i: cython.Py_ssize_t = 0
    s0: cython.double = 0.0
    s1: cython.double = 0.0
    s2: cython.double = 0.0
    s3: cython.double = 0.0
    while i + 3 < length:
        s0 += factor[begin + i] * row[i]
        s1 += factor[begin + i + 1] * row[i + 1]
        s2 += factor[begin + i + 2] * row[i + 2]
        s3 += factor[begin + i + 3] * row[i + 3]
        i += 4
    while i < length:
        s0 += factor[begin + i] * row[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def change_column(
    factor: cython.double[::1],
    begin: cython.Py_ssize_t,
    gain: cython.double[::1],
    length: cython.Py_ssize_t,
    slope: cython.double,
    g: cython.double,
) -> cython.void:
    """A column of U moves against the gain so far; the gain moves along the column as it was."""
    i: cython.Py_ssize_t
    entry: cython.double
    for i in range(length):
        entry = factor[begin + i]
        factor[begin + i] = entry - gain[i] * slope
        gain[i] += entry * g


class DeterminantBound(RegretBound):
    """Every u: what it loses, its length, and the volume that the examples span."""

    name = "ridge bound"
    formula = "a |u|^2 + Y^2 ln det(I + sum x x^T / a)"
    citation = "Vovk 2001, Theorem 1"

    @staticmethod
    def bound(penalty: Any, norm: Any, largest: Any, log_determinant: Any) -> Any:
        return penalty * norm * norm + largest * largest * log_determinant

    def certify(self, evidence: Any) -> Any:
        inputs = (evidence.largest, evidence.trace.log_determinant)
        return self.applied(
            evidence,
            lambda u: self.bound(evidence.penalty, u.norm, *inputs),
            {"a": evidence.penalty, "Y": inputs[0], "ln det": inputs[1]},
        )


class RadiusBound(RegretBound):
    """The same by the number of features and the length of the examples: of a given trace, equal values have the
    largest determinant.
    """

    id = "online-ridge"
    name = "ridge bound, from the radius"
    formula = "{penalty} {norm}^2 + {features} {largest_target}^2 ln(1 + {rounds} {radius}^2 / ({features} {penalty}))"
    inputs = (
        Input("penalty", "a", "the penalty of ridge regression", POSITIVE),
        NORM,
        Input("largest_target", "Y", "the largest target, without its sign", NOT_NEGATIVE),
        Input("features", "n", "how many features, with the intercept's", COUNT),
        ROUNDS,
        RADIUS,
    )
    needs = "the learner is online ridge regression with that penalty, from the first round on"
    citation = "Vovk 2001, Theorem 1, with the mean of the eigenvalues"

    @staticmethod
    def bound(penalty: Any, norm: Any, largest_target: Any, features: Any, rounds: Any, radius: Any) -> Any:
        volume = features * np.log1p(rounds * radius * radius / (features * penalty))
        return DeterminantBound.bound(penalty, norm, largest_target, volume)

    def certify(self, evidence: Any) -> Any:
        inputs = (evidence.largest, max(1, evidence.features), evidence.rounds, evidence.radius)
        return self.applied(
            evidence,
            lambda u: self.bound(evidence.penalty, u.norm, *inputs),
            dict(zip(("a", "Y", "n", "T", "R"), (evidence.penalty, *inputs), strict=True)),
        )


class SharesBound(RegretBound):
    """The sharpest of them: the square of each target times its example's share q_t."""

    name = "ridge bound, from each example's share"
    formula = "a |u|^2 + sum y_t^2 q_t, q_t = x_t . A_t^-1 x_t"
    citation = "Vovk 2001, by the proof of Theorem 1, before each q_t is replaced by ln(det A_t / det A_{t-1})"

    @staticmethod
    def bound(penalty: Any, norm: Any, shares: Any) -> Any:
        return penalty * norm * norm + shares

    def certify(self, evidence: Any) -> Any:
        shares = evidence.trace.shares
        return self.applied(
            evidence,
            lambda u: self.bound(evidence.penalty, u.norm, shares),
            {"a": evidence.penalty, "sum y^2 q": shares},
        )


def _most_features(parameter: str, value: Any) -> int:
    return whole_number(parameter, value, 0, MOST_FEATURES, f"a whole number from 0 to {MOST_FEATURES:,}, or None")


OPTIONS = (
    Option("penalty", 1.0, positive_number),
    Option("most_features", None, optional(_most_features)),
    INTERCEPT,
)


@cython.cclass
class _Factors(LinearLearner):
    """The weights and the factors of A^{-1}, and the update."""

    _called = "OnlineRidge"
    _rests = False
    options = (*OPTIONS, Option("loss", "square"), LABELS)

    # U, column after column without its diagonal and what is below it, and D.
    _factor: cython.double[::1]
    _diagonal: cython.double[::1]
    _fresh_variance: cython.double
    # How many features there can be, the intercept's among them, and whether those beyond are left out or refused.
    _most: cython.Py_ssize_t
    _leaves_out: cython.bint
    # For the current row: its values by column, U^T of them, A^{-1} of them, and after each column what 1 + f D f is.
    _row: cython.double[::1]
    _turned: cython.double[::1]
    _gain: cython.double[::1]
    _alphas: cython.double[::1]
    # w . x and 1 + x^T A^{-1} x, by what was known before it.
    _product: cython.double
    _alpha: cython.double

    def _begin(self) -> None:
        self._fresh_variance = 1.0 / self._options["penalty"]
        if not self._fresh_variance <= FLOAT_MAX:
            raise invalid("penalty", "a positive number whose inverse is finite", self._options["penalty"])
        most = self._options["most_features"]
        self._most = (MOST_FEATURES if most is None else most) + int(self._options["intercept"])
        self._leaves_out = most is not None
        self._product = 0.0
        self._alpha = 1.0
        self._factor = view(np.zeros(120))
        self._diagonal = view(np.full(16, self._fresh_variance))
        self._lay_out_scratch(16)
        LinearLearner._begin(self)
        # Sums over columns leave out the values of a row that are 0 times a number.
        self._bad_values_show = False
        if self._fresh_variance > MODERATE:
            self._proven = -1.0

    def _lay_out_scratch(self, room: int) -> None:
        row, turned, gain, alphas = np.zeros(room), np.zeros(room), np.zeros(room), np.zeros(room)
        self._row = view(row)
        self._turned = view(turned)
        self._gain = view(gain)
        self._alphas = view(alphas)

    # ------------------------------------------------------------------ the figure

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """w . x / (1 + x^T A^{-1} x) for the current row, w and A as they were before it."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        unknown: cython.Py_ssize_t = 0
        features: cython.Py_ssize_t = self._features
        alpha: cython.double = 1.0
        f: cython.double
        for j in range(features):
            self._row[j] = 0.0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < features:
                self._row[column] += self._values[self._first + k]
            else:
                unknown += 1
        self._product = product(self._weights, self._row, 0, features)
        for j in range(features):
            # Row j of U^T: a column of U, and the one on the diagonal.
            f = self._row[j] + column_of(self._factor, begin, self._row, j)
            begin += j
            self._turned[j] = f
            alpha += f * (self._diagonal[j] * f)
            self._alphas[j] = alpha
        if unknown:
            alpha = self._with_unknown(alpha)
        self._alpha = alpha
        return self._product / alpha if alpha <= LARGEST else NOT_A_NUMBER

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _with_unknown(self, alpha: cython.double) -> cython.double:
        """What alpha becomes with the features of the row that are not known yet, in the order they would get."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        most: cython.Py_ssize_t = self._most if self._leaves_out else LAST
        room: cython.Py_ssize_t = most - self._features
        latest: cython.Py_ssize_t = self._features - 1
        following: cython.Py_ssize_t
        in_order: cython.bint = True
        f: cython.double
        sorted_alpha: cython.double
        for k in range(self._length):
            # New names, each of its own.
            if self._columns[self._offset + k] < 0 and room > 0:
                room -= 1
                f = self._values[self._first + k]
                alpha += f * (self._fresh_variance * f)
        sorted_alpha = alpha
        for k in range(self._length):
            # New positions in order, as they nearly always come.
            column = self._columns[self._offset + k]
            if self._features <= column < most:
                in_order = in_order and column > latest
                latest = column
                f = self._values[self._first + k]
                sorted_alpha += f * (self._fresh_variance * f)
        if in_order:
            return sorted_alpha
        latest = self._features - 1
        while True:
            # In any order, and some more than once: the next of them, and the sum of its values.
            following = -1
            for k in range(self._length):
                column = self._columns[self._offset + k]
                if latest < column < most and (following < 0 or column < following):
                    following = column
            if following < 0:
                return alpha
            f = 0.0
            for k in range(self._length):
                if self._columns[self._offset + k] == following:
                    f += self._values[self._first + k]
            alpha += f * (self._fresh_variance * f)
            latest = following

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        """Bierman's update of U and D for the current row; the gain it gives is A^{-1} x, which w moves along."""
        j: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        features: cython.Py_ssize_t = self._features
        alpha: cython.double = 1.0
        f: cython.double
        g: cython.double
        slope: cython.double
        step: cython.double
        for j in range(features):
            f = self._turned[j]
            if f == 0:
                self._gain[j] = 0.0
            else:
                g = self._diagonal[j] * f
                slope = f / alpha
                # The quotient first: where alpha stays what it is, so does the number.
                self._diagonal[j] *= alpha / self._alphas[j]
                change_column(self._factor, begin, self._gain, j, slope, g)
                self._gain[j] = g
                alpha = self._alphas[j]
            begin += j
        step = (y - self._product) / alpha
        for j in range(features):
            self._weights[j] += self._gain[j] * step
        return True

    # ------------------------------------------------------------------ growth

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, features: cython.Py_ssize_t) -> cython.int:
        room: cython.Py_ssize_t = self._diagonal.shape[0]
        if features > self._most and self._leaves_out:
            features = self._most
        if features > self._most:
            raise invalid(
                "the number of features",
                f"at most {MOST_FEATURES:,} for OnlineRidge, which keeps a number for every pair of them; "
                "AdaGradRegressor takes any number",
                features - self._reserved,
            )
        if features > room:
            room = min(max(features, 2 * room), self._most)
            known = self._features
            try:
                factor, diagonal = self._with_room_for_pairs(
                    np.asarray(self._factor)[: known * (known - 1) // 2], np.asarray(self._diagonal)[:known], room
                )
                self._lay_out_scratch(room)
            except MemoryError:
                raise invalid("the number of features", "what fits into memory", features) from None
            self._factor = view(factor)
            self._diagonal = view(diagonal)
        return LinearLearner.reserve(self, features)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow(self, features: cython.Py_ssize_t) -> cython.int:
        if self._leaves_out:
            features = min(features, self._most)
        return LinearLearner.grow(self, features)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _admit_names(self, names: list[Any]) -> cython.int:
        # Entries of those that are left out have columns from here on, where nobody looks.
        if self._leaves_out:
            names = names[: max(0, self._most - self._features)]
        return LinearLearner._admit_names(self, names)

    def _with_room_for_pairs(self, factor: Any, diagonal: Any, room: int) -> tuple[Any, Any]:
        longer, wider = np.zeros(room * (room - 1) // 2), np.full(room, self._fresh_variance)
        longer[: len(factor)] = factor
        wider[: len(diagonal)] = diagonal
        return longer, wider

    def _enter(self, rows: Any, learning: bool) -> None:
        LinearLearner._enter(self, rows, learning)
        self._cost_of_round = 8 + 2 * self._features * self._features

    # ------------------------------------------------------------------ what it knows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_sound(self) -> cython.bint:
        k: cython.Py_ssize_t
        features: cython.Py_ssize_t = self._features
        wrong: cython.double = 0.0
        for k in range(features * (features - 1) // 2):
            # 0, or not a number if it is infinite or none.
            wrong += self._factor[k] - self._factor[k]
        for k in range(features):
            if not 0 < self._diagonal[k] <= LARGEST:
                return False
        return wrong == 0 and LinearLearner.is_sound(self)

    def _is_steady(self) -> bool:
        return self._proven > 0

    def _state(self) -> dict[str, Any]:
        features = self._features
        state = LinearLearner._state(self)
        state["diagonal"] = np.array(self._diagonal[:features])
        state["factor"] = np.array(self._factor[: features * (features - 1) // 2])
        return state

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        features = len(state["weights"])
        if features > self._most:
            raise invalid("weights", f"at most {self._most:,} numbers", Words(counted(features, "number")))
        for name, length in (("diagonal", features), ("factor", features * (features - 1) // 2)):
            numbers = state[name]
            if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.shape != (length,):
                raise invalid(name, f"a 1-D array of {counted(length, 'number')}", numbers)
        if not np.all((state["diagonal"] > 0) & (state["diagonal"] <= self._fresh_variance)):
            raise invalid("diagonal", "positive numbers, none above that of a fresh feature", state["diagonal"])

    def _become(self, state: Any) -> None:
        features = len(state["weights"])
        room = max(16, features)
        require_room("the number of features", 4 * room * room)
        factor, diagonal = self._with_room_for_pairs(state["factor"], state["diagonal"], room)
        self._lay_out_scratch(room)
        self._factor = view(factor)
        self._diagonal = view(diagonal)
        LinearLearner._become(self, state)


class OnlineRidge(LinearRegressor):
    """Least squares with a penalty, one example at a time, with the example to come among those that count.

    penalty        a: what the squared length of the weights costs; the smaller, the sooner it trusts what it has seen
    most_features  how many features to keep, the first that come; all others are left out. None: all, and more than
                   4,096 are refused, because it keeps a number for every pair. A round takes time in proportion to the
                   square of this
    intercept      whether every example has a further feature of value 1; its weight is penalised as the others are

    ``weights`` are those of ridge regression on the examples so far. The theorems are about the features that it keeps.
    """

    options = OPTIONS
    theorems = (DeterminantBound(), RadiusBound(), SharesBound())
    checker = "ridge"
    _learns_by = _Factors
