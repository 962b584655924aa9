"""The contracts of learners, regressors and expert algorithms as test suites, for those of this package and yours."""

from afterwit.testing.experts import SEED, check_expert_algorithm, expert_checks
from afterwit.testing.learners import check_learner, learner_checks
from afterwit.testing.regressors import check_regressor, regressor_checks

__all__ = [
    "SEED",
    "check_expert_algorithm",
    "check_learner",
    "check_regressor",
    "expert_checks",
    "learner_checks",
    "regressor_checks",
]
