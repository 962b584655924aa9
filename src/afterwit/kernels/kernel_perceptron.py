"""The kernel perceptron: the perceptron in the feature space of a kernel.

Setting     x_t anything a kernel K takes, K(x, z) = phi(x) . phi(z) in some feature space; y_t in {-1, +1}; predict
            sgn(sum_s alpha_s y_s K(x_s, x_t)), sgn(0) = +1.
Update      on a mistake only: alpha_t = 1. The examples with alpha_s = 1 are kept: the support. It is the perceptron
            with w = sum_s alpha_s y_s phi(x_s).
Guarantee   all of the perceptron's in feature space, with R^2 = max_t K(x_t, x_t): if a unit v there has
            y_t (v . phi(x_t)) >= gamma for all t, at most (R/gamma)^2 mistakes; on any sequence, the hinge bounds.
            If a budget made it drop examples: the budget bound below, which counts what the drops cost.
Assumes     K is positive semidefinite. All kernels of `afterwit.kernels` are; for a function of your own that is your
            promise. Nothing about where the examples come from.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Figure 8.9; Blum, Hopcroft
            & Kannan, Foundations of Data Science, section 6.6. Dropping the oldest: Dekel, Shalev-Shwartz & Singer,
            The Forgetron, 2008 (which shrinks the coefficients as well, and is another algorithm).

>>> from afterwit.kernels import polynomial, string
>>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]  # exclusive or: no hyperplane separates it
>>> learner = KernelPerceptron(polynomial(2))
>>> learner.fit(X, y).converged
True
>>> learner.predict_many(X).tolist()
[-1, 1, 1, -1]
>>> mails = KernelPerceptron(string(3), labels=("ham", "spam"))
>>> [mails.learn_one(text, label) for text, label in [("cheap pills", "spam"), ("lunch?", "ham"), ("lunches", "ham")]]
['spam', 'spam', 'ham']
>>> mails.support, mails.coefficients.tolist()
(['lunch?'], [-1.0])
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import certify
from afterwit.core.declared import LABELS, Count, Option
from afterwit.core.sources import certify_source
from afterwit.core.theorem import Theorem
from afterwit.core.turns import SLICE, breathe
from afterwit.data.checks import whole_number
from afterwit.data.room import require_room
from afterwit.data.rows import LARGEST_POSITION, Rows
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid
from afterwit.kernels._examples import KernelExamples, read_many, read_one, texts, vectors
from afterwit.kernels._kernel import as_kernel
from afterwit.kernels._support import Support
from afterwit.kernels.polynomial import polynomial
from afterwit.linear.perceptron import perceptron_bounds

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
    from cython.cimports.afterwit.core.turns import begin_rounds, end_rounds, seconds
else:
    from afterwit.core.learner import BinaryLearner
    from afterwit.core.turns import begin_rounds, end_rounds, seconds

SLICE_LENGTH = cython.declare(cython.double, SLICE)
#: How many kept examples are compared between two looks at the clock.
WORK_BETWEEN_LOOKS = cython.declare(cython.Py_ssize_t, 1000)


class BudgetBound(Theorem):
    """Any sequence, when a budget has dropped examples: the sharper hinge bound and what the drops cost.

    Let W_t be the sum of y_s phi(x_s) over all updates before round t, D_t the part of it that was dropped, so that
    w_t = W_t - D_t predicts. Every update has y_t (w_t . phi(x_t)) <= 0, that is y_t (W_t . phi(x_t)) <=
    y_t (D_t . phi(x_t)). Hence

        |W_{t+1}|^2 = |W_t|^2 + 2 y_t (W_t . phi(x_t)) + K(x_t, x_t) <= |W_t|^2 + 2 y_t (D_t . phi(x_t)) + R^2,

    and after M updates |W|^2 <= M R^2 + 2 F with F the sum of y_t (D_t . phi(x_t)) over them. For any u with hinge
    losses L over all rounds, u . W = sum of y_t (u . phi(x_t)) over the updates >= M - L. Together

        M - L <= |u| sqrt(M R^2 + 2 F),

    and solved for M, with a = R |u|, the statement; where F is negative, 0 stands for it. F = 0 gives Theorem 8.11 with
    the losses of all rounds. F depends on what the learner did, so the bound cannot be known beforehand.
    """

    name = "budget bound"
    statement = "mistakes <= L + a^2/2 + sqrt(a^4/4 + a^2 L + 2 |u|^2 F), a = R |u|"
    citation = "the proof of Mohri et al. 2018, Theorem 8.11, with what was dropped carried along; see BudgetBound"
    quantity = "mistakes"
    foreseeable = False

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any, cost: Any) -> Any:
        a = radius * norm
        cost = max(0.0, cost)
        return hinge_loss + a * a / 2 + math.sqrt(a**4 / 4 + a * a * hinge_loss + 2 * norm * norm * cost)

    def certify(self, evidence: Any) -> Any:
        if not evidence.dropped:
            # The bound is then the sharper hinge bound.
            return None
        unit = evidence.unit
        cost = evidence.budget_cost / unit / unit

        def bound(u: Any) -> Any:
            return self.bound(evidence.radius, u.norm, u.hinge, cost)

        best = evidence.best(bound)
        inputs = {
            "R": unit * evidence.radius,
            "|u|": best.norm / unit,
            "L": best.hinge,
            "F (what the budget costs)": evidence.budget_cost,
            "comparator": best.source,
        }
        if evidence.mistakes_without_budget is not None:
            inputs["mistakes without the budget"] = evidence.mistakes_without_budget
        return evidence.certificate(self, bound(best), inputs)


def _read_kernel(parameter: str, value: Any) -> Any:
    del parameter
    return as_kernel(value)


def _read_budget(parameter: str, value: Any) -> int | None:
    return None if value is None else whole_number(parameter, value, 1, words="a whole number, at least 1, or None")


BUDGET = Option("budget", None, _read_budget)


@cython.cclass
class KernelPerceptron(BinaryLearner):
    """The kernel perceptron of Figure 8.9.

    kernel  one of `afterwit.kernels`, a composition of them, or any function K(x, z). The default, (1 + x . z)^2, is
            the perceptron on all features, their pairwise products and a constant; it has no scale to be tuned
    budget  how many examples are kept at most: when there are more, the oldest is dropped; None keeps all
    labels  the negative and the positive label
    """

    _kernel: cython.object
    _budget: cython.object
    _dropped = cython.declare(cython.longlong, visibility="public")
    _support: cython.object

    theorems = (*perceptron_bounds(), BudgetBound())
    checker = "kernel"
    options = (Option("kernel", polynomial(2), _read_kernel), BUDGET, LABELS)  # type: tuple[Any, ...]
    kept = (Count("dropped"),)

    def _begin(self) -> None:
        BinaryLearner._begin(self)
        self._kernel = self._chosen_kernel()
        self._budget = self._options["budget"]
        self._dropped = 0
        self._support = Support(self._kernel)

    def _chosen_kernel(self) -> Any:
        return self._options["kernel"]

    # ------------------------------------------------------------------ the figure

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        scores = np.empty(rows.count)
        if rows.count == 0:
            return scores
        noted = np.zeros(rows.count, dtype=np.int8) if updated is None else updated
        with self._lock:
            # One example is refused before anything changes; among many, a kernel may fail late.
            before = self._state() if rows.count > 1 else None
            begin_rounds()
            try:
                self._require_same_numbering(rows)
                self._support.enter(rows)
                self._learn_same_numbering(rows)
                self._learn_rows(signs.tolist(), scores, noted)
            except Exception:
                if before is not None:
                    self._become(before)
                raise
            finally:
                self._support.leave()
                end_rounds()
        return scores

    def _learn_rows(self, signs: list[int], scores: Any, noted: Any) -> None:
        """Learn the rows of the block. If somebody wants to stop, the rounds before stay learned."""
        support = self._support
        work: cython.Py_ssize_t = 0
        until: cython.double = seconds() + SLICE_LENGTH
        for i, y in enumerate(signs):
            score = support.score(i, True)
            mistake = (1 if score >= 0 else -1) != y
            if mistake:
                support.keep(i, y)
                if self._budget is not None and support.count() > self._budget:
                    support.drop()
                    self._dropped += 1
                self._mistakes += 1
                self._updates += 1
            else:
                support.settle()
            self._rounds += 1
            scores[i] = score
            noted[i] = mistake
            work += 16 + support.count()
            if work > WORK_BETWEEN_LOOKS:
                work = 0
                if seconds() > until:
                    breathe()
                    until = seconds() + SLICE_LENGTH

    def _require_same_numbering(self, examples: Any) -> None:
        if examples.form in ("dense", "sparse"):
            self._require_numbering(examples.parts[None])

    def _learn_same_numbering(self, examples: Any) -> None:
        if examples.form in ("dense", "sparse"):
            self._learn_numbering(examples.parts[None])

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
        work: cython.Py_ssize_t = 0
        until: cython.double = seconds() + SLICE_LENGTH
        examples = self._read(X)
        scores = np.empty(examples.count)
        support = self._support
        with self._lock:
            begin_rounds()
            try:
                self._require_same_numbering(examples)
                support.enter(examples)
                for i in range(examples.count):
                    scores[i] = support.score(i, False)
                    work += 16 + support.count()
                    if work > WORK_BETWEEN_LOOKS:
                        work = 0
                        if seconds() > until:
                            breathe()
                            until = seconds() + SLICE_LENGTH
            finally:
                support.leave()
                end_rounds()
        return scores

    def _read(self, X: Any) -> Any:
        return read_many(self._kernel, X)

    def _read_one(self, x: Any) -> Any:
        return read_one(self._kernel, x)

    # ------------------------------------------------------------------ what it knows

    @property
    def kernel(self) -> Any:
        """The kernel K."""
        return self._kernel

    @property
    def dropped(self) -> int:
        """How many examples it has dropped because of the budget."""
        return self._dropped

    @property
    def coefficients(self) -> Any:
        """alpha_s y_s for every kept example, oldest first: -1 or +1."""
        with self._lock:
            return self._support.coefficients()

    @property
    def support(self) -> Any:
        """The kept examples, oldest first, as ``predict_many`` takes them.

        A matrix if they came as arrays, a scipy array if they came as sparse rows, a list of dicts if they came as
        dicts or sets; otherwise a list of strings, or of whatever they were.
        """
        with self._lock:
            stored = self._stored_support()
        form, content = stored["form"], stored["support"]
        if form == "sparse":
            from scipy.sparse import csr_array

            width = int(content["columns"].max(initial=-1)) + 1
            return csr_array(
                (content["values"], content["columns"], content["starts"]), shape=(len(content["starts"]) - 1, width)
            )
        if form != "named":
            return content
        entries = list(zip(content["columns"].tolist(), content["values"].tolist(), strict=True))
        starts = content["starts"].tolist()
        return [{content["names"][j]: value for j, value in entries[begin:end]} for begin, end in pairwise(starts)]

    def certificate(self, X: Any, y: Any = None, comparator: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y, in feature space.

        X and y are the examples the learner learned from, in order (once for each pass). A comparator may be given as
        coefficients b_t, one for each row of X: it is then u = sum_t b_t phi(x_t). X alone may be a stream or a libsvm
        file that fits into memory.
        """
        if y is None:
            return certify_source(self, X, comparator)
        return certify(self, *self._checked(X, y), comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _stored_support(self) -> dict[str, Any]:
        """The form of the kept examples, and the examples; names in the order in which they occur."""
        support = self._support
        form = support.form()
        if form in ("texts", "objects"):
            return {"form": form, "support": support.objects()}
        if form is None or form == "dense":
            return {"form": form, "support": support.dense_rows()}
        starts, columns, values = support.sparse_rows()
        content = {"starts": starts, "columns": columns, "values": values}
        if form == "named":
            names = support.names()
            order = {column: j for j, column in enumerate(dict.fromkeys(columns.tolist()))}
            content["columns"] = np.array([order[column] for column in columns.tolist()], dtype=np.int32)
            content["names"] = [names[column] for column in order]
        return {"form": form, "support": content}

    def _state(self) -> dict[str, Any]:
        coefficients = self._support.coefficients()
        return {**BinaryLearner._state(self), "coefficients": coefficients, **self._stored_support()}

    def _check_state(self, state: Any) -> None:
        BinaryLearner._check_state(self, state)
        dropped, coefficients = state["dropped"], state["coefficients"]
        if not _is_array(coefficients, np.float64, 1) or not np.isin(coefficients, (-1.0, 1.0)).all():
            raise invalid("coefficients", "an array of -1.0 and 1.0", coefficients)
        if dropped != state["updates"] - len(coefficients):
            raise invalid("dropped", "the number of updates that are not kept", dropped)
        examples = self._examples_of(state)
        if (examples.count if examples is not None else 0) != len(coefficients):
            raise invalid("coefficients", "one for every kept example", Words(counted(len(coefficients), "number")))
        if self._budget is not None and len(coefficients) > self._budget:
            raise invalid(
                "coefficients", f"at most {self._budget}, the budget", Words(counted(len(coefficients), "number"))
            )

    def _examples_of(self, state: Any) -> Any:
        """The kept examples of a state, checked."""
        form, content = state["form"], state["support"]
        forms = {"strings": ("texts",), "anything": ("objects",), "vectors": ("dense", "sparse", "named")}
        if form is None:
            return None
        if form not in forms[self._kernel.takes]:
            raise invalid("form", f"one of {', '.join(forms[self._kernel.takes])}", form)
        if form == "dense":
            if not _is_array(content, np.float64, 2):
                raise invalid("support", "a 2-D array of float64", content)
            return read_many(self._kernel, content)
        if form == "objects":
            if not isinstance(content, list):
                raise invalid("support", "a list of examples", content)
            return KernelExamples(len(content), form, objects=list(content))
        if form == "texts":
            if not isinstance(content, list) or not all(type(text) is str for text in content):
                raise invalid("support", "a list of strings", content)
            return texts(self._kernel, content)
        return vectors(self._kernel, _checked_rows(content, form))

    def _become(self, state: Any) -> None:
        BinaryLearner._become(self, state)
        examples, support = self._examples_of(state), self._support
        support.clear()
        if examples is not None:
            support.enter(examples)
            support.settle()
            for i, coefficient in enumerate(state["coefficients"].tolist()):
                support.keep(i, coefficient)
            support.leave()


def _is_array(value: Any, dtype: Any, dimensions: int) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim == dimensions


def _checked_rows(content: Any, form: str) -> Rows:
    """Kept sparse rows, of which nothing is taken on trust: they may come from a file."""
    if not isinstance(content, dict):
        raise invalid("support", "sparse rows: starts, columns and values", content)
    data: Any = content
    starts, columns, values, names = (data.get(key) for key in ("starts", "columns", "values", "names"))
    if not (_is_array(starts, np.int64, 1) and _is_array(columns, np.int32, 1) and _is_array(values, np.float64, 1)):
        raise invalid("support", "sparse rows: starts, columns and values", content)
    width = LARGEST_POSITION + 1
    if form == "named":
        if not are_different(names):
            raise invalid("names", "a list of different names", names)
        width = len(names)
    ends_fit = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(columns) == len(values)
    if (
        not ends_fit
        or (starts[1:] < starts[:-1]).any()
        or (len(columns) and not 0 <= columns.min() <= columns.max() < width)
    ):
        raise invalid("support", "well-formed sparse rows", Words("others"))
    # A row is laid out by column to be multiplied.
    require_room("support", 8 * int(columns.max(initial=0)))
    return Rows(len(starts) - 1, width, values, columns, starts, names=names if form == "named" else None)
