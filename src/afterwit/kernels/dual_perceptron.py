"""The dual perceptron: the perceptron, told by the examples it got wrong.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(sum_s alpha_s y_s (x_s . x_t)), sgn(0) = +1.
Update      on a mistake only: alpha_t = 1. The weights of the perceptron are w = sum_s alpha_s y_s x_s, and the
            predictions are the perceptron's.
Guarantee   the perceptron's: at most (R/gamma)^2 mistakes with a margin gamma, and the hinge bounds. With a budget, as
            for the kernel perceptron, of which this is the one with the linear kernel.
Use         to see which examples make a rule, and as the step to kernels. A round costs a product with every kept
            example: where the weights themselves will do, `Perceptron` is much faster.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Figure 8.8.

>>> learner = DualPerceptron(labels=("ham", "spam"))
>>> for x, y in [({"lunch": 1, "today": 1}, "ham"), ({"cheap": 1, "lunch": 1}, "spam")]:
...     print(learner.learn_one(x, y))
spam
ham
>>> learner.support, learner.coefficients.tolist()
([{'lunch': 1.0, 'today': 1.0}, {'cheap': 1.0, 'lunch': 1.0}], [-1.0, 1.0])
"""

from __future__ import annotations

from typing import Any

from afterwit.data.values import signature
from afterwit.kernels import linear
from afterwit.kernels.kernel_perceptron import KernelPerceptron


class DualPerceptron(KernelPerceptron):
    """The dual perceptron of Figure 8.8.

    budget  at most so many examples are kept: when a further one comes the oldest goes; None keeps all
    labels  the negative and the positive label
    """

    __signature__ = signature(budget=None, labels=(-1, 1))

    def __init__(self, budget: Any = None, labels: Any = (-1, 1)) -> None:
        super().__init__(linear(), budget, labels)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"budget": self.budget, "labels": self.labels}
