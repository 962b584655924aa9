"""The contracts of learners and of expert algorithms as test suites, for those of this package and for yours."""

from afterwit.testing.experts import SEED, check_expert_algorithm, expert_checks
from afterwit.testing.learners import check_learner, learner_checks

__all__ = ["SEED", "check_expert_algorithm", "check_learner", "expert_checks", "learner_checks"]
