"""The dual perceptron: the perceptron, written as a sum of the examples it got wrong.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(sum_s alpha_s y_s (x_s . x_t)), sgn(0) = +1.
Update      on a mistake only: alpha_t = 1. The weights of the perceptron are w = sum_s alpha_s y_s x_s, and the
            predictions are the perceptron's.
Guarantee   the perceptron's: at most (R/gamma)^2 mistakes with a margin gamma, and the hinge bounds. With a budget, the
            budget bound of the kernel perceptron: this is the kernel perceptron with the linear kernel.
Use         to see which examples a rule is made of, and as an introduction to kernels. A round costs a product with
            every kept example: `Perceptron` makes the same predictions much faster.
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

from afterwit.core.declared import LABELS
from afterwit.kernels.kernel_perceptron import BUDGET, KernelPerceptron
from afterwit.kernels.linear import linear


class DualPerceptron(KernelPerceptron):
    """The dual perceptron of Figure 8.8.

    budget  how many examples are kept at most: when there are more, the oldest is dropped; None keeps all
    labels  the negative and the positive label
    """

    options = (BUDGET, LABELS)

    def _chosen_kernel(self) -> Any:
        return linear()
