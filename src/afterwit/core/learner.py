"""What every learner shares: counters and labels, many rounds at once, copying, comparing, saving.

`Storable` is what copying, pickling, comparing and saving need: ``parameters`` make a fresh one, ``state`` is all it
has learned. `BinaryLearner` adds two labels, the counters and everything about many rounds; a learner derived from it
says how to read examples (``_read``, ``_read_one``), how to learn them (``_learn``) and how to score them.

The file is compiled, because compiled learners can only derive from compiled classes; nothing in it is hot.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import cython
import numpy as np

from afterwit.core import html, late
from afterwit.core.declared import DeclaredSignature, copied, read_options
from afterwit.core.probabilities import logistic, pairs, refusal
from afterwit.core.protocol import Training
from afterwit.data import checks
from afterwit.data.labels import PLAIN, Labels, labels_of
from afterwit.data.rows import read_many, read_one, wrong_space
from afterwit.data.values import is_plain_array, same_value
from afterwit.errors import Words, counted, invalid, shorten

if cython.compiled:
    from cython.cimports.afterwit.core.turns import Lock
else:
    from afterwit.core.turns import Lock

#: Libraries that ask a model for attributes of their own.
ASKING = frozenset({"river"})


def view(array: Any) -> Any:
    """An array as the compiled loops want it: interpreted, a memoryview, whose items are plain Python numbers."""
    return array if cython.compiled else memoryview(array)


@cython.cclass
class Storable:
    """Copies, pickles and compares by what it was made with and what it has learned; both are declared."""

    #: What it is made with, as `Option` objects.
    options = ()  # type: tuple[Any, ...]
    #: What it has learned beyond what its base class keeps, as `Kept` objects.
    kept = ()  # type: tuple[Any, ...]
    __signature__ = DeclaredSignature()

    #: The bounds that hold for the algorithm, as `Theorem` objects.
    theorems = ()  # type: tuple[Any, ...]
    #: Why there are none, where there are none.
    no_theorem_because = ""
    #: The bounds that hold where rows are in shards and weights are mixed (`afterwit.cluster`).
    mixed_theorems = ()  # type: tuple[Any, ...]
    #: The module of `afterwit.certify` that recomputes its rounds.
    checker = ""
    #: Whether it learns more than two labels.
    many_labels = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._options = read_options(type(self), arguments, named)
        self._begin()

    def _begin(self) -> None:
        """Make a fresh learner of the options, which have been checked one by one."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What the learner was made with: ``type(learner)(**learner.parameters)`` makes a fresh one."""
        return {name: copied(value) for name, value in self._options.items()}

    @property
    def rounds(self) -> int:
        """How many examples it has learned from."""
        raise NotImplementedError

    @property
    def mistakes(self) -> int:
        """How many of them it predicted wrongly before it saw the label."""
        raise NotImplementedError

    def _progress(self) -> str:
        """How far it has come, as ``repr`` says it."""
        return f"{counted(self.rounds, 'round')}, {counted(self.mistakes, 'mistake')}"

    def state(self) -> dict[str, Any]:
        """All it has learned, as numbers, lists and arrays; ``restore`` takes it back."""
        return self._state()

    def restore(self, state: Any) -> None:
        """Become the learner whose ``state()`` this was."""
        self._require_state(state)
        self._become(state)

    def _require_state(self, state: Any) -> None:
        """Refuse what is not a state of this learner, with one sentence."""
        allowed = f"what state() of {type(self).__name__} returns"
        if not isinstance(state, dict):
            raise invalid("state", allowed, state)
        for name, value in state.items():
            if isinstance(value, np.ndarray) and not is_plain_array(value):
                raise invalid(name, "an array of finite numbers, without a mask", value)
        try:
            self._check_counts(state)
            self._check_state(state)
        except KeyError as error:
            raise invalid("state", allowed, Words(f"a dict without {error}")) from None

    def _state(self) -> dict[str, Any]:
        return self._kept_state()

    def _kept_state(self) -> dict[str, Any]:
        return {each.name: each.read(self) for each in self.kept}

    def _check_counts(self, state: Any) -> None:
        """Refuse counters that are none, before anything is compared with them."""

    def _check_state(self, state: Any) -> None:
        """Refuse a state that is not one of this learner's."""
        for each in self.kept:
            each.check(self, each.of(state))

    def _become(self, state: Any) -> None:
        for each in self.kept:
            each.write(self, each.of(state))

    def _view(self, array: Any) -> Any:
        return view(array)

    def copy(self) -> Any:
        """An independent learner in the same state."""
        return _rebuild(type(self), self.parameters, self.state())

    def clone(self, new_params: Any = None, include_attributes: Any = False) -> Any:
        """A fresh learner with the same parameters, except for those in ``new_params``.

        With ``include_attributes`` it has learned the same.
        """
        parameters = self.parameters
        for name in new_params or ():
            if name not in parameters:
                raise invalid("new_params", f"some of {', '.join(parameters)}", name)
        learner = type(self)(**{**parameters, **(new_params or {})})
        if include_attributes:
            learner.restore(self.state())
        return learner

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.parameters, self.state())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return same_value(self.parameters, other.parameters) and same_value(self.state(), other.state())

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={shorten(value, 40)}"
            for name, value in self.parameters.items()
            if value is not None and value is not False
        )
        return f"{type(self).__name__}({given}): {self._progress()}"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html.learner(self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *type(self).__signature__.parameters})

    @property
    def gives_probabilities(self) -> bool:
        """Whether it has probabilities: where the loss is logistic, a score is the logarithm of the odds."""
        return self._options.get("loss") == "logistic"

    def predict_proba_one(self, x: Any) -> Any:
        """The probability of every label."""
        raise refusal(self)

    def predict_proba_many(self, X: Any) -> Any:
        """``predict_proba_one`` for every row of X: an array with a column for each label."""
        raise refusal(self)

    def __getattr__(self, name: str) -> Any:
        """Every option can be read by its name; what another library asks for, `afterwit.interop` knows."""
        kind = type(self)
        # A property that failed is not asked again: ``parameters`` may need it.
        if not hasattr(kind, name):
            if name in kind.__signature__.parameters:
                return self.parameters[name]
            for library in ASKING.intersection(sys.modules):
                hooks = importlib.import_module(f"afterwit.interop.{library}").HOOKS
                if name in hooks:
                    return hooks[name](self)
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")


def _rebuild(kind: Any, parameters: Any, state: Any) -> Any:
    learner = kind(**parameters)
    learner.restore(state)
    return learner


def checked_counts(state: Any) -> list[int]:
    """The rounds, mistakes and updates of a saved state."""
    counts: list[Any] = [state.get(name) for name in ("rounds", "mistakes", "updates")]
    if any(type(count) is not int or not 0 <= count <= counts[0] < 2**62 for count in counts):
        raise invalid("rounds, mistakes and updates", "counts, none above rounds", counts)
    return counts


@cython.cclass
class BinaryLearner(Storable):
    """A learner of two labels that predicts by the sign of a score, with sgn(0) = +1."""

    role = "classifier"
    #: What examples it takes: "numbers", "booleans" or "points" of a class.
    takes = "numbers"
    #: ``learn_many`` takes whatever block of rows a stream hands over, and returns the predictions.
    learns_blocks = True
    #: Every example that it can predict it can learn: after a prediction it refuses nothing.
    learns_what_it_predicts = False
    #: A feature of value 0 is the same as one that is absent.
    zero_is_absent = True
    #: What a whole pass must be free of for `fit` to have converged.
    converges_without = "updates"
    #: What a label that comes late finds (see `afterwit.core.late`): "served" if it is learned by the prediction that
    #: was served, "arrival" if as `learn_one` would then.
    late = "arrival"

    def _begin(self) -> None:
        given = self._options["labels"]
        self._undecided = given is None
        self._labels = Labels(PLAIN if given is None else given)
        self._signs = {} if given is None else dict(self._labels.lookup)
        self._lock = Lock()
        self._rounds = 0
        self._mistakes = 0
        self._updates = 0
        self._by_id = False

    # ------------------------------------------------------------------ what a learner defines

    def _read(self, X: Any) -> Any:
        """Many examples, checked, as ``_learn`` takes them; their number is ``count``."""
        return read_many(X)

    def _read_one(self, x: Any) -> Any:
        """One example in the same form."""
        return read_one(x)

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        """Learn rows in order; the scores, made before each label was used.

        ``updated`` may be an array of int8 in which to note the rounds that changed the weights.
        """
        raise NotImplementedError

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
        raise NotImplementedError

    # ------------------------------------------------------------------ one round

    def score_one(self, x: Any) -> float:
        """The score, whose sign is the prediction."""
        return self.score_many(self._read_one(x)).item()

    def predict_one(self, x: Any) -> Any:
        """The label the learner would give x now. Nothing changes."""
        return self._labels.positive if self.score_one(x) >= 0 else self._labels.negative

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each of the two labels now. Nothing changes."""
        if not self.gives_probabilities:
            raise refusal(self)
        score = self.score_one(x)
        return {self._labels.negative: logistic(-score), self._labels.positive: logistic(score)}

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x, count the round and the mistake, then learn from y. Returns the prediction."""
        sign = self._sign(y)
        score = self._learn(self._read_one(x), np.full(1, sign, dtype=np.int8))[0]
        if self._undecided:
            self._decide([y])
        return self._labels.positive if score >= 0 else self._labels.negative

    def _sign(self, y: Any) -> int:
        try:
            return self._signs[y]
        except (KeyError, TypeError):
            labels = labels_of([y]) if self._undecided else self._labels
            try:
                return labels.lookup[y]
            except (KeyError, TypeError):
                raise labels.refusal(y) from None

    def _decide(self, y: Any) -> None:
        """Take the labels from the first that it learned, if it was made without; see `labels_of`."""
        labels = labels_of(y)
        with self._lock:
            if self._undecided:
                self._take_labels(labels)

    def _take_labels(self, labels: Any) -> None:
        self._options = {**self._options, "labels": labels.pair}
        self._labels = labels
        self._signs = dict(labels.lookup)
        self._undecided = False

    # ------------------------------------------------------------------ labels that come late

    def serve_one(self, x: Any) -> Any:
        """The prediction for x, and a ticket for ``learn_late``, which is plain data. Nothing changes."""
        return late.serve_one(self, x)

    def serve_many(self, X: Any) -> Any:
        """``serve_one`` for every row of X: the predictions as an array, and a list of tickets."""
        return late.serve_many(self, X)

    def learn_late(self, ticket: Any, y: Any) -> Any:
        """Learn the example of a ticket, whose label has come. Returns the prediction that was served."""
        return late.learn_late(self, ticket, y)

    def learn_late_many(self, tickets: Any, y: Any) -> Any:
        """``learn_late`` for every ticket in order. Returns the predictions that were served."""
        return late.learn_late_many(self, tickets, y)

    # ------------------------------------------------------------------ many rounds

    def predict_many(self, X: Any) -> Any:
        """``predict_one`` for every row of X, as an array."""
        return self._labels.decode(np.where(self.score_many(X) >= 0, 1, -1))

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of the labels for every row of X: an array with the columns of ``labels``."""
        if not self.gives_probabilities:
            raise refusal(self)
        return pairs(self.score_many(X))

    def learn_many(self, X: Any, y: Any) -> Any:
        """``learn_one`` for every row in order. Returns the predictions made before each label was seen."""
        scores = self.learn_scores(X, y)
        return self._labels.decode(np.where(scores >= 0, 1, -1))

    def learn_scores(self, X: Any, y: Any) -> Any:
        """``learn_many`` that returns the scores behind the predictions."""
        rows, signs = self._checked(X, y)
        return self._learn_labels(rows, signs, y)

    def _learn_labels(self, rows: Any, signs: Any, y: Any) -> Any:
        """``_learn`` for the labels that these signs stand for: the first rounds, even if only some, decide them."""
        try:
            return self._learn(rows, signs)
        finally:
            if self._undecided and self._rounds:
                self._decide(y)

    def fit(self, X: Any, y: Any, max_passes: Any = 1000) -> Training:
        """Learn X again and again until a whole pass changes nothing, at most ``max_passes`` times.

        Learners that follow a gradient change in nearly every round: they stop after a pass without a mistake. Goes
        on from the weights the learner has. Returns whether it converged and the mistakes of each pass.
        """
        most = checks.count("max_passes", max_passes)
        rows, signs = self._checked(X, y)
        mistakes: list[int] = []
        converged = False
        while len(mistakes) < most and not converged:
            updates = self._updates
            latest = int(np.count_nonzero(np.where(self._learn_labels(rows, signs, y) >= 0, 1, -1) != signs))
            mistakes.append(latest)
            converged = (latest if self.converges_without == "mistakes" else self._updates - updates) == 0
        return Training(converged=converged, mistakes_per_pass=tuple(mistakes))

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        rows = self._read(X)
        labels = labels_of(y) if self._undecided else self._labels
        signs = labels.signs(y, rows.first)
        if len(signs) != rows.count:
            raise invalid("y", f"as long as X ({counted(rows.count, 'row')})", Words(counted(len(signs), "label")))
        return rows, signs

    def _count(self, rounds: Any, mistakes: Any, updates: Any) -> None:
        """Count what was learned: learners that are not compiled cannot reach the counters themselves."""
        self._rounds += int(rounds)
        self._mistakes += int(mistakes)
        self._updates += int(updates)

    # ------------------------------------------------------------------ what it knows

    @property
    def labels(self) -> tuple[Any, Any]:
        """The negative and the positive label. -1 and 1 as long as a learner made without has learned none."""
        return self._labels.pair

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def mistakes(self) -> int:
        return self._mistakes

    @property
    def updates(self) -> int:
        """In how many rounds it changed what it has learned."""
        return self._updates

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state()

    def restore(self, state: Any) -> None:
        self._require_state(state)
        with self._lock:
            self._become(state)
            if self._undecided and self._rounds:
                # What the labels were is not part of a state; a learner of that state has some.
                self._take_labels(Labels(PLAIN))

    def _check_counts(self, state: Any) -> None:
        checked_counts(state)
        if state.get("by_id", True) is not True:
            raise invalid("by_id", "True, if it is there", state["by_id"])

    def _counts(self) -> dict[str, Any]:
        counts = {"rounds": self._rounds, "mistakes": self._mistakes, "updates": self._updates}
        return {**counts, "by_id": True} if self._by_id else counts

    def _require_numbering(self, rows: Any) -> None:
        """Refuse columns that are numbered in another way than those it has learned."""
        if rows.ids is not None and rows.ids != self._by_id and rows.width and self._rounds:
            raise wrong_space("ids" if self._by_id else "columns", "the ids of libsvm text" if rows.ids else "an array")

    def _learn_numbering(self, rows: Any) -> None:
        """From now on columns are numbered as in these rows."""
        if rows.ids is not None and rows.width:
            self._by_id = rows.ids

    def _state(self) -> dict[str, Any]:
        return {**self._counts(), **self._kept_state()}

    def _become(self, state: Any) -> None:
        self._rounds = state["rounds"]
        self._mistakes = state["mistakes"]
        self._updates = state["updates"]
        self._by_id = state.get("by_id", False)
        Storable._become(self, state)
