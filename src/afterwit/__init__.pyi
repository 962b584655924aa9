# Written by tools/generate.py: every public name, where it is, and what learners are made with.

from typing import Any

from afterwit import adversaries as adversaries
from afterwit import batch as batch
from afterwit import boosting as boosting
from afterwit import bounds as bounds
from afterwit import cluster as cluster
from afterwit import concepts as concepts
from afterwit import errors as errors
from afterwit import experts as experts
from afterwit import games as games
from afterwit import hindsight as hindsight
from afterwit import kernels as kernels
from afterwit import linear as linear
from afterwit import losses as losses
from afterwit import portfolios as portfolios
from afterwit import reductions as reductions
from afterwit import sampling as sampling
from afterwit import sklearn as sklearn
from afterwit import storage as storage
from afterwit import streams as streams
from afterwit import testing as testing
from afterwit.batch.confidence import ConfidenceSequence as ConfidenceSequence
from afterwit.batch.frozen import FrozenPredictor as FrozenPredictor
from afterwit.boosting.boosting import Boosting as _Boosting
from afterwit.boosting.decision_stump import DecisionStump as _DecisionStump
from afterwit.concepts.disjunction_learner import DisjunctionLearner as _DisjunctionLearner
from afterwit.concepts.generalized_halving import GeneralizedHalving as _GeneralizedHalving
from afterwit.concepts.halving import Halving as _Halving
from afterwit.concepts.id3 import ID3 as _ID3
from afterwit.concepts.online_disjunction import OnlineDisjunction as _OnlineDisjunction
from afterwit.concepts.standard_optimal_algorithm import StandardOptimalAlgorithm as _StandardOptimalAlgorithm
from afterwit.concepts.winnow_disjunction import WinnowDisjunction as _WinnowDisjunction
from afterwit.core.certificate import Assumption as Assumption
from afterwit.core.certificate import Certificate as Certificate
from afterwit.core.protocol import Learner as Learner
from afterwit.core.protocol import play as play
from afterwit.core.record import Record as Record
from afterwit.core.regression_record import RegressionRecord as RegressionRecord
from afterwit.core.storage import load as load
from afterwit.core.storage import save as save
from afterwit.core.theorem import Theorem as Theorem
from afterwit.data.rows import SparseRow as SparseRow
from afterwit.errors import AfterwitError as AfterwitError
from afterwit.experts.adahedge import AdaHedge as _AdaHedge
from afterwit.experts.aggregating_algorithm import AggregatingAlgorithm as _AggregatingAlgorithm
from afterwit.experts.boa import BOA as _BOA
from afterwit.experts.exp3 import Exp3 as _Exp3
from afterwit.experts.exponential_weights import ExponentialWeights as _ExponentialWeights
from afterwit.experts.fixed_share import FixedShare as _FixedShare
from afterwit.experts.follow_the_perturbed_leader import FollowThePerturbedLeader as _FollowThePerturbedLeader
from afterwit.experts.mlpol import MLpol as _MLpol
from afterwit.experts.online_shortest_path import OnlineShortestPath as _OnlineShortestPath
from afterwit.experts.polynomial_weights import PolynomialWeights as _PolynomialWeights
from afterwit.experts.randomized_weighted_majority import RandomizedWeightedMajority as _RandomizedWeightedMajority
from afterwit.experts.repeat_last_label import RepeatLastLabel as _RepeatLastLabel
from afterwit.experts.repeat_last_target import RepeatLastTarget as _RepeatLastTarget
from afterwit.experts.second_order_weights import SecondOrderWeights as _SecondOrderWeights
from afterwit.experts.sleeping_experts import SleepingExperts as _SleepingExperts
from afterwit.experts.strongly_adaptive import StronglyAdaptive as _StronglyAdaptive
from afterwit.experts.swap_regret import SwapRegret as _SwapRegret
from afterwit.experts.weighted_majority import WeightedMajority as _WeightedMajority
from afterwit.games.solution import GameSolution as GameSolution
from afterwit.games.solve import solve_game as solve_game
from afterwit.kernels.dual_perceptron import DualPerceptron as _DualPerceptron
from afterwit.kernels.kernel_perceptron import KernelPerceptron as _KernelPerceptron
from afterwit.kernels.nearest_neighbours import NearestNeighbours as _NearestNeighbours
from afterwit.linear.adagrad import AdaGrad as _AdaGrad
from afterwit.linear.adagrad_regressor import AdaGradRegressor as _AdaGradRegressor
from afterwit.linear.averaged_multiclass_perceptron import AveragedMulticlassPerceptron as _AveragedMulticlassPerceptron
from afterwit.linear.averaged_perceptron import AveragedPerceptron as _AveragedPerceptron
from afterwit.linear.balanced_winnow import BalancedWinnow as _BalancedWinnow
from afterwit.linear.margin_perceptron import MarginPerceptron as _MarginPerceptron
from afterwit.linear.multiclass_perceptron import MulticlassPerceptron as _MulticlassPerceptron
from afterwit.linear.normalized_adagrad import NormalizedAdaGrad as _NormalizedAdaGrad
from afterwit.linear.normalized_adagrad_regressor import NormalizedAdaGradRegressor as _NormalizedAdaGradRegressor
from afterwit.linear.online_ridge import OnlineRidge as _OnlineRidge
from afterwit.linear.online_svm import OnlineSVM as _OnlineSVM
from afterwit.linear.passive_aggressive import PassiveAggressive as _PassiveAggressive
from afterwit.linear.perceptron import Perceptron as _Perceptron
from afterwit.linear.scale_free import ScaleFree as _ScaleFree
from afterwit.linear.scale_free_regressor import ScaleFreeRegressor as _ScaleFreeRegressor
from afterwit.linear.selective_perceptron import SelectivePerceptron as _SelectivePerceptron
from afterwit.linear.sgd import SGD as _SGD
from afterwit.linear.sgd_regressor import SGDRegressor as _SGDRegressor
from afterwit.linear.softmax_adagrad import SoftmaxAdaGrad as _SoftmaxAdaGrad
from afterwit.linear.voted_perceptron import VotedPerceptron as _VotedPerceptron
from afterwit.linear.winnow import Winnow as _Winnow
from afterwit.networks.soft_threshold_network import SoftThresholdNetwork as _SoftThresholdNetwork
from afterwit.portfolios.exponentiated_gradient_portfolio import ExponentiatedGradientPortfolio as _ExponentiatedGradientPortfolio
from afterwit.portfolios.universal_portfolio import UniversalPortfolio as _UniversalPortfolio
from afterwit.races.race import Race as Race
from afterwit.races.race import race as race
from afterwit.reductions.calibrated import Calibrated as _Calibrated
from afterwit.reductions.committee import Committee as _Committee
from afterwit.reductions.conformal_intervals import ConformalIntervals as _ConformalIntervals
from afterwit.reductions.multiclass_committee import MulticlassCommittee as _MulticlassCommittee
from afterwit.reductions.multiclass_standardize import MulticlassStandardize as _MulticlassStandardize
from afterwit.reductions.one_vs_rest import OneVsRest as _OneVsRest
from afterwit.reductions.per_group import PerGroup as PerGroup
from afterwit.reductions.regression_committee import RegressionCommittee as _RegressionCommittee
from afterwit.reductions.standardize import Standardize as _Standardize
from afterwit.streams.matrix import read_libsvm as read_libsvm
from afterwit.streams.model import Model as Model
from afterwit.streams.read import read as read
from afterwit.streams.schema import Schema as Schema

class AdaGrad(_AdaGrad):
    def __init__(self, loss: Any = "logistic", rate: Any = 0.15, delta: Any = 1e-6, box: Any = None, intercept: Any = True, labels: Any = None) -> None: ...

class AdaGradRegressor(_AdaGradRegressor):
    def __init__(self, loss: Any = "square", rate: Any = 0.15, delta: Any = 1e-6, box: Any = None, intercept: Any = True) -> None: ...

class AdaHedge(_AdaHedge):
    def __init__(self, n_experts: Any, loss: Any = "square", gradient: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class AggregatingAlgorithm(_AggregatingAlgorithm):
    def __init__(self, n_experts: Any, outcomes: Any = 2, loss: Any = "brier") -> None: ...

class AveragedMulticlassPerceptron(_AveragedMulticlassPerceptron):
    def __init__(self, intercept: Any = False, labels: Any = None) -> None: ...

class AveragedPerceptron(_AveragedPerceptron):
    def __init__(self, intercept: Any = False, labels: Any = None) -> None: ...

class BOA(_BOA):
    def __init__(self, n_experts: Any, loss: Any = "square", gradient: Any = None, loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class BalancedWinnow(_BalancedWinnow):
    def __init__(self, rate: Any = 0.1, intercept: Any = False, labels: Any = None) -> None: ...

class Boosting(_Boosting):
    def __init__(self, weak_learner: Any = None, gamma: Any = 0.1, rounds: Any = None, labels: Any = (-1, 1)) -> None: ...

class Calibrated(_Calibrated):
    def __init__(self, learner: Any = None, shift: Any = True, labels: Any = None) -> None: ...

class Committee(_Committee):
    def __init__(self, learners: Any = None, weighting: Any = "mixture", labels: Any = None) -> None: ...

class ConformalIntervals(_ConformalIntervals):
    def __init__(self, forecaster: Any = None, coverage: Any = 0.9, method: Any = "adaptive", rate: Any = 0.01, window: Any = 250, largest: Any = None) -> None: ...

class DecisionStump(_DecisionStump):
    def __init__(self, labels: Any = (-1, 1)) -> None: ...

class DisjunctionLearner(_DisjunctionLearner):
    def __init__(self, negated: Any = False, labels: Any = (-1, 1)) -> None: ...

class DualPerceptron(_DualPerceptron):
    def __init__(self, budget: Any = None, labels: Any = None) -> None: ...

class Exp3(_Exp3):
    def __init__(self, n_experts: Any, rate: Any = None, horizon: Any = None, loss: Any = "zero-one", loss_range: Any = (0, 1), seed: Any = 0) -> None: ...

class ExponentialWeights(_ExponentialWeights):
    def __init__(self, n_experts: Any, loss: Any = "square", rate: Any = None, horizon: Any = None, schedule: Any = None, gradient: Any = False, loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class ExponentiatedGradientPortfolio(_ExponentiatedGradientPortfolio):
    def __init__(self, n_assets: Any, rate: Any = None, horizon: Any = None, ratio: Any = None, cost: Any = 0.0) -> None: ...

class FixedShare(_FixedShare):
    def __init__(self, n_experts: Any, loss: Any = "square", share: Any = None, rate: Any = None, horizon: Any = None, shifts: Any = None, gradient: Any = False, loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class FollowThePerturbedLeader(_FollowThePerturbedLeader):
    def __init__(self, n_experts: Any = None, edges: Any = None, source: Any = None, sink: Any = None, epsilon: Any = None, horizon: Any = None, perturbation: Any = "exponential", loss_range: Any = (0, 1), seed: Any = 0) -> None: ...

class GeneralizedHalving(_GeneralizedHalving):
    def __init__(self, hypotheses: Any, sizes: Any = None, labels: Any = None) -> None: ...

class Halving(_Halving):
    def __init__(self, hypotheses: Any, drop: Any = "mistakes", labels: Any = None) -> None: ...

class ID3(_ID3):
    def __init__(self, max_depth: Any = None, min_gain: Any = 0.0, categories: Any = None, labels: Any = None) -> None: ...

class KernelPerceptron(_KernelPerceptron):
    def __init__(self, kernel: Any = ..., budget: Any = None, labels: Any = None) -> None: ...

class MLpol(_MLpol):
    def __init__(self, n_experts: Any, loss: Any = "square", gradient: Any = None, loss_range: Any = None, seed: Any = 0, discount: Any = None, outcomes: Any = None) -> None: ...

class MarginPerceptron(_MarginPerceptron):
    def __init__(self, margin: Any = 0.1, intercept: Any = False, labels: Any = None) -> None: ...

class MulticlassCommittee(_MulticlassCommittee):
    def __init__(self, learners: Any = None, weighting: Any = "fixed-share", labels: Any = None) -> None: ...

class MulticlassPerceptron(_MulticlassPerceptron):
    def __init__(self, intercept: Any = False, labels: Any = None) -> None: ...

class MulticlassStandardize(_MulticlassStandardize):
    def __init__(self, learner: Any = None, labels: Any = None) -> None: ...

class NearestNeighbours(_NearestNeighbours):
    def __init__(self, neighbours: Any = 5, window: Any = 1000, labels: Any = None) -> None: ...

class NormalizedAdaGrad(_NormalizedAdaGrad):
    def __init__(self, rate: Any = 0.5, loss: Any = "logistic", invariant: Any = False, intercept: Any = True, labels: Any = None) -> None: ...

class NormalizedAdaGradRegressor(_NormalizedAdaGradRegressor):
    def __init__(self, rate: Any = 0.25, loss: Any = "square", intercept: Any = True) -> None: ...

class OneVsRest(_OneVsRest):
    def __init__(self, learner: Any = None, labels: Any = None) -> None: ...

class OnlineDisjunction(_OnlineDisjunction):
    def __init__(self, labels: Any = None) -> None: ...

class OnlineRidge(_OnlineRidge):
    def __init__(self, penalty: Any = 1.0, most_features: Any = None, intercept: Any = True) -> None: ...

class OnlineSVM(_OnlineSVM):
    def __init__(self, C: Any = 100.0, rate: Any = 0.0001, intercept: Any = False, labels: Any = None) -> None: ...

class OnlineShortestPath(_OnlineShortestPath):
    def __init__(self, edges: Any, source: Any = None, sink: Any = None, rate: Any = None, horizon: Any = None, cost_range: Any = (0, 1), seed: Any = 0) -> None: ...

class PassiveAggressive(_PassiveAggressive):
    def __init__(self, C: Any = 1.0, intercept: Any = False, labels: Any = None) -> None: ...

class Perceptron(_Perceptron):
    def __init__(self, rate: Any = 1.0, start: Any = None, intercept: Any = False, labels: Any = None) -> None: ...

class PolynomialWeights(_PolynomialWeights):
    def __init__(self, n_experts: Any, power: Any = None, loss: Any = "square", gradient: Any = False, loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class RandomizedWeightedMajority(_RandomizedWeightedMajority):
    def __init__(self, n_experts: Any, beta: Any = None, horizon: Any = None, seed: Any = 0, loss: Any = "zero-one", loss_range: Any = (0, 1)) -> None: ...

class RegressionCommittee(_RegressionCommittee):
    def __init__(self, learners: Any = None, weighting: Any = "mlpol") -> None: ...

class RepeatLastLabel(_RepeatLastLabel):
    def __init__(self, labels: Any = None) -> None: ...

class RepeatLastTarget(_RepeatLastTarget):
    def __init__(self) -> None: ...

class SGD(_SGD):
    def __init__(self, loss: Any = "logistic", rate: Any = 0.03, schedule: Any = "constant", ball: Any = None, intercept: Any = True, labels: Any = None) -> None: ...

class SGDRegressor(_SGDRegressor):
    def __init__(self, loss: Any = "square", rate: Any = 0.01, schedule: Any = "constant", ball: Any = None, intercept: Any = True) -> None: ...

class ScaleFree(_ScaleFree):
    def __init__(self, epsilon: Any = 1.0, loss: Any = "logistic", intercept: Any = True, labels: Any = None) -> None: ...

class ScaleFreeRegressor(_ScaleFreeRegressor):
    def __init__(self, epsilon: Any = 1.0, loss: Any = "square", intercept: Any = True) -> None: ...

class SecondOrderWeights(_SecondOrderWeights):
    def __init__(self, n_experts: Any, beta: Any = None, horizon: Any = None, loss: Any = "zero-one", loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class SelectivePerceptron(_SelectivePerceptron):
    def __init__(self, b: Any = 1.0, seed: Any = 0, intercept: Any = False, labels: Any = None) -> None: ...

class SleepingExperts(_SleepingExperts):
    def __init__(self, n_experts: Any, epsilon: Any = 0.1, loss: Any = "zero-one", loss_range: Any = (0, 1), seed: Any = 0) -> None: ...

class SoftThresholdNetwork(_SoftThresholdNetwork):
    def __init__(self, gates: Any = (8,), rate: Any = 0.1, seed: Any = 0, labels: Any = None) -> None: ...

class SoftmaxAdaGrad(_SoftmaxAdaGrad):
    def __init__(self, rate: Any = 0.15, delta: Any = 1e-6, intercept: Any = True, labels: Any = None) -> None: ...

class StandardOptimalAlgorithm(_StandardOptimalAlgorithm):
    def __init__(self, hypotheses: Any, limit: Any = 50_000_000, labels: Any = None) -> None: ...

class Standardize(_Standardize):
    def __init__(self, learner: Any = None, labels: Any = None) -> None: ...

class StronglyAdaptive(_StronglyAdaptive):
    def __init__(self, n_experts: Any, loss: Any = "square", gradient: Any = False, loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class SwapRegret(_SwapRegret):
    def __init__(self, base: Any, loss: Any = "zero-one", loss_range: Any = None, seed: Any = 0, outcomes: Any = None) -> None: ...

class UniversalPortfolio(_UniversalPortfolio):
    def __init__(self, n_assets: Any, samples: Any = None, seed: Any = 0, cost: Any = 0.0) -> None: ...

class VotedPerceptron(_VotedPerceptron):
    def __init__(self, intercept: Any = False, labels: Any = None) -> None: ...

class WeightedMajority(_WeightedMajority):
    def __init__(self, n_experts: Any, beta: Any = 0.5) -> None: ...

class Winnow(_Winnow):
    def __init__(self, rate: Any = 0.1, intercept: Any = False, labels: Any = None) -> None: ...

class WinnowDisjunction(_WinnowDisjunction):
    def __init__(self, n_variables: Any, labels: Any = None) -> None: ...

__version__: str
compiled: bool
EXPERT_ALGORITHMS: tuple[str, ...]
LEARNERS: tuple[str, ...]
REGRESSORS: tuple[str, ...]
__all__ = [
    "BOA",
    "EXPERT_ALGORITHMS",
    "ID3",
    "LEARNERS",
    "REGRESSORS",
    "SGD",
    "AdaGrad",
    "AdaGradRegressor",
    "AdaHedge",
    "AfterwitError",
    "AggregatingAlgorithm",
    "Assumption",
    "AveragedMulticlassPerceptron",
    "AveragedPerceptron",
    "BalancedWinnow",
    "Boosting",
    "Calibrated",
    "Certificate",
    "Committee",
    "ConfidenceSequence",
    "ConformalIntervals",
    "DecisionStump",
    "DisjunctionLearner",
    "DualPerceptron",
    "Exp3",
    "ExponentialWeights",
    "ExponentiatedGradientPortfolio",
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
    "Model",
    "MulticlassCommittee",
    "MulticlassPerceptron",
    "MulticlassStandardize",
    "NearestNeighbours",
    "NormalizedAdaGrad",
    "NormalizedAdaGradRegressor",
    "OneVsRest",
    "OnlineDisjunction",
    "OnlineRidge",
    "OnlineSVM",
    "OnlineShortestPath",
    "PassiveAggressive",
    "PerGroup",
    "Perceptron",
    "PolynomialWeights",
    "Race",
    "RandomizedWeightedMajority",
    "Record",
    "RegressionCommittee",
    "RegressionRecord",
    "RepeatLastLabel",
    "RepeatLastTarget",
    "SGDRegressor",
    "ScaleFree",
    "ScaleFreeRegressor",
    "Schema",
    "SecondOrderWeights",
    "SelectivePerceptron",
    "SleepingExperts",
    "SoftThresholdNetwork",
    "SoftmaxAdaGrad",
    "SparseRow",
    "StandardOptimalAlgorithm",
    "Standardize",
    "StronglyAdaptive",
    "SwapRegret",
    "Theorem",
    "UniversalPortfolio",
    "VotedPerceptron",
    "WeightedMajority",
    "Winnow",
    "WinnowDisjunction",
    "adversaries",
    "batch",
    "boosting",
    "bounds",
    "cluster",
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
    "portfolios",
    "race",
    "read",
    "read_libsvm",
    "reductions",
    "sampling",
    "save",
    "sklearn",
    "solve_game",
    "storage",
    "streams",
    "testing",
]
