# Written by tools/generate.py: every public name, and where it is.

from afterwit import adversaries as adversaries
from afterwit import batch as batch
from afterwit import boosting as boosting
from afterwit import bounds as bounds
from afterwit import concepts as concepts
from afterwit import errors as errors
from afterwit import experts as experts
from afterwit import games as games
from afterwit import hindsight as hindsight
from afterwit import kernels as kernels
from afterwit import linear as linear
from afterwit import losses as losses
from afterwit import reductions as reductions
from afterwit import sampling as sampling
from afterwit import sklearn as sklearn
from afterwit import storage as storage
from afterwit import streams as streams
from afterwit import testing as testing
from afterwit.batch.confidence import ConfidenceSequence as ConfidenceSequence
from afterwit.batch.frozen import FrozenPredictor as FrozenPredictor
from afterwit.boosting.boosting import Boosting as Boosting
from afterwit.boosting.decision_stump import DecisionStump as DecisionStump
from afterwit.concepts.disjunction_learner import DisjunctionLearner as DisjunctionLearner
from afterwit.concepts.generalized_halving import GeneralizedHalving as GeneralizedHalving
from afterwit.concepts.halving import Halving as Halving
from afterwit.concepts.id3 import ID3 as ID3
from afterwit.concepts.online_disjunction import OnlineDisjunction as OnlineDisjunction
from afterwit.concepts.standard_optimal_algorithm import StandardOptimalAlgorithm as StandardOptimalAlgorithm
from afterwit.concepts.winnow_disjunction import WinnowDisjunction as WinnowDisjunction
from afterwit.core.certificate import Assumption as Assumption
from afterwit.core.certificate import Certificate as Certificate
from afterwit.core.protocol import Learner as Learner
from afterwit.core.protocol import Record as Record
from afterwit.core.protocol import play as play
from afterwit.core.storage import load as load
from afterwit.core.storage import save as save
from afterwit.core.theorem import Theorem as Theorem
from afterwit.data.rows import SparseRow as SparseRow
from afterwit.errors import AfterwitError as AfterwitError
from afterwit.experts.adahedge import AdaHedge as AdaHedge
from afterwit.experts.boa import BOA as BOA
from afterwit.experts.exp3 import Exp3 as Exp3
from afterwit.experts.exponential_weights import ExponentialWeights as ExponentialWeights
from afterwit.experts.fixed_share import FixedShare as FixedShare
from afterwit.experts.follow_the_perturbed_leader import FollowThePerturbedLeader as FollowThePerturbedLeader
from afterwit.experts.mlpol import MLpol as MLpol
from afterwit.experts.online_shortest_path import OnlineShortestPath as OnlineShortestPath
from afterwit.experts.polynomial_weights import PolynomialWeights as PolynomialWeights
from afterwit.experts.randomized_weighted_majority import RandomizedWeightedMajority as RandomizedWeightedMajority
from afterwit.experts.repeat_last_label import RepeatLastLabel as RepeatLastLabel
from afterwit.experts.second_order_weights import SecondOrderWeights as SecondOrderWeights
from afterwit.experts.sleeping_experts import SleepingExperts as SleepingExperts
from afterwit.experts.swap_regret import SwapRegret as SwapRegret
from afterwit.experts.weighted_majority import WeightedMajority as WeightedMajority
from afterwit.games.solution import GameSolution as GameSolution
from afterwit.games.solve import solve_game as solve_game
from afterwit.kernels.dual_perceptron import DualPerceptron as DualPerceptron
from afterwit.kernels.kernel_perceptron import KernelPerceptron as KernelPerceptron
from afterwit.linear.adagrad import AdaGrad as AdaGrad
from afterwit.linear.averaged_perceptron import AveragedPerceptron as AveragedPerceptron
from afterwit.linear.balanced_winnow import BalancedWinnow as BalancedWinnow
from afterwit.linear.margin_perceptron import MarginPerceptron as MarginPerceptron
from afterwit.linear.online_svm import OnlineSVM as OnlineSVM
from afterwit.linear.perceptron import Perceptron as Perceptron
from afterwit.linear.sgd import SGD as SGD
from afterwit.linear.voted_perceptron import VotedPerceptron as VotedPerceptron
from afterwit.linear.winnow import Winnow as Winnow
from afterwit.networks.soft_threshold_network import SoftThresholdNetwork as SoftThresholdNetwork
from afterwit.reductions.committee import Committee as Committee
from afterwit.reductions.one_vs_rest import OneVsRest as OneVsRest

__version__: str
compiled: bool
EXPERT_ALGORITHMS: tuple[str, ...]
LEARNERS: tuple[str, ...]
__all__ = [
    "BOA",
    "EXPERT_ALGORITHMS",
    "ID3",
    "LEARNERS",
    "SGD",
    "AdaGrad",
    "AdaHedge",
    "AfterwitError",
    "Assumption",
    "AveragedPerceptron",
    "BalancedWinnow",
    "Boosting",
    "Certificate",
    "Committee",
    "ConfidenceSequence",
    "DecisionStump",
    "DisjunctionLearner",
    "DualPerceptron",
    "Exp3",
    "ExponentialWeights",
    "FixedShare",
    "FollowThePerturbedLeader",
    "FrozenPredictor",
    "GameSolution",
    "GeneralizedHalving",
    "Halving",
    "KernelPerceptron",
    "Learner",
    "MLpol",
    "MarginPerceptron",
    "OneVsRest",
    "OnlineDisjunction",
    "OnlineSVM",
    "OnlineShortestPath",
    "Perceptron",
    "PolynomialWeights",
    "RandomizedWeightedMajority",
    "Record",
    "RepeatLastLabel",
    "SecondOrderWeights",
    "SleepingExperts",
    "SoftThresholdNetwork",
    "SparseRow",
    "StandardOptimalAlgorithm",
    "SwapRegret",
    "Theorem",
    "VotedPerceptron",
    "WeightedMajority",
    "Winnow",
    "WinnowDisjunction",
    "adversaries",
    "batch",
    "boosting",
    "bounds",
    "compiled",
    "concepts",
    "errors",
    "experts",
    "games",
    "hindsight",
    "kernels",
    "linear",
    "load",
    "losses",
    "play",
    "reductions",
    "sampling",
    "save",
    "sklearn",
    "solve_game",
    "storage",
    "streams",
    "testing",
]
