"""Bounds of algorithms that follow expert advice, as functions of numbers or arrays, which broadcast.

Losses are between 0 and 1 unless a range is given. N experts may be given as ``experts`` or, where there are more than
any number holds (the paths of a graph), by ``log_experts`` = ln N.

>>> round(exponential_weights_tuned(rounds=1000, experts=10), 6)
33.930702
>>> weighted_majority(best_mistakes=[0, 10, 100], beta=0.5, experts=16).round(2).tolist()
[9.64, 33.73, 250.58]
"""

from afterwit.bounds._collection import formula

_N = ("experts", "log_experts")

weighted_majority = formula("weighted-majority", "best_mistakes", "beta", *_N)
randomized_weighted_majority = formula("randomized-weighted-majority", "best_loss", "beta", *_N)
randomized_weighted_majority_tuned = formula("randomized-weighted-majority-tuned", "rounds", *_N)
two_random_experts = formula("two-random-experts", "rounds")
exponential_weights = formula("exponential-weights", "rounds", "rate", *_N)
exponential_weights_tuned = formula("exponential-weights-tuned", "rounds", *_N)
exponential_weights_doubling = formula("exponential-weights-doubling", "rounds", *_N)
exponential_weights_decreasing = formula("exponential-weights-decreasing", "rounds", *_N)
exponential_weights_adaptive = formula("exponential-weights-adaptive", "squared_ranges", "largest_range", *_N)
exponential_weights_square = formula("exponential-weights-square", "largest_loss", *_N)
exp_concave = formula("exp-concave", "rate", *_N)
second_order = formula("second-order", "beta", "squared_losses", *_N)
second_order_alpha = formula("second-order-alpha", "rounds", "beta", "alpha", *_N)
polynomial_weights = formula("polynomial", "rounds", "power", "loss_range", *_N)
polynomial_weights_tuned = formula("polynomial-tuned", "rounds", "loss_range", *_N)
sleeping_experts = formula("sleeping", "expert_mistakes", "epsilon", *_N)
perturbed_leader = formula("perturbed-leader", "rounds", "epsilon", "diameter", "payoff", "cost")
perturbed_leader_tuned = formula("perturbed-leader-tuned", "rounds", "diameter", "payoff", "cost")
swap_regret = formula("swap-regret", "rounds", "rate", "experts")
swap_regret_tuned = formula("swap-regret-tuned", "rounds", "experts")
fixed_share = formula("fixed-share", "rounds", "switches", "rate", "share", *_N)
exp3 = formula("exp3", "rounds", "rate", "experts")

__all__ = [name for name in dir() if not name.startswith("_") and name != "formula"]
