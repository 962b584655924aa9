"""Learners by what does their work besides the update: what another library asks of inputs and copies, one of each shows."""

import afterwit as aw
from afterwit.core.learner import BinaryLearner
from afterwit.core.registry import learner_names


def engine(name):
    """A learner's base class, or itself where it has none but the common one."""
    kind = getattr(aw, learner_names()[name])
    return kind if kind.__base__ is BinaryLearner else kind.__base__


#: One learner of each engine, by name; the perceptron among them.
ONE_OF_EACH = list({engine(name): name for name in (*learner_names(), "perceptron")}.values())
