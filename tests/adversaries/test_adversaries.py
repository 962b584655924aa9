import numpy as np
import pytest

import afterwit as aw
from afterwit import adversaries
from afterwit.errors import InputError


@pytest.mark.parametrize(
    ("dimension", "margin", "radius"), [(1, 2.0, 2.0), (2, 0.3, 1.0), (50, 1e-3, 5.0), (3, 1.0, 1.0)]
)
def test_separable_streams_are_what_they_say(dimension, margin, radius):
    stream = adversaries.separable(400, dimension, margin=margin, radius=radius, seed=7)
    assert np.linalg.norm(stream.X, axis=1) == pytest.approx(radius)
    margins = stream.y * (stream.X @ stream.target)
    assert margins.min() == pytest.approx(margin)
    assert margins[0] == pytest.approx(margin)
    assert np.linalg.norm(stream.target) == pytest.approx(1)
    assert set(stream.y.tolist()) == {-1, 1}
    again = adversaries.separable(400, dimension, margin=margin, radius=radius, seed=7)
    other = adversaries.separable(400, dimension, margin=margin, radius=radius, seed=8)
    assert (again.X == stream.X).all()
    assert not (other.X == stream.X).all()


def test_label_noise_flips_what_it_says():
    clean = adversaries.separable(4000, 3, margin=0.1, seed=1)
    noisy = adversaries.label_noise(clean, 0.25, seed=2)
    assert ((noisy.y != clean.y) == noisy.flipped).all()
    assert 900 < noisy.flipped.sum() < 1100
    assert not adversaries.label_noise(clean, 0, seed=2).flipped.any()
    assert adversaries.label_noise(clean, 1, seed=2).flipped.all()
    same = adversaries.label_noise(adversaries.unit_vectors(4), 1, seed=0)
    assert same.y.tolist() == [1, 1, 1, 1]


def test_label_noise_wants_two_labels():
    from afterwit.streams import ArrayStream

    mixed = adversaries.label_noise(ArrayStream([[1.0], [2.0]], ["a", 0]), 1, seed=0)
    assert mixed.y.tolist() == [0, "a"]
    with pytest.raises(InputError, match="a stream of two labels; received labels 0"):
        adversaries.label_noise(ArrayStream([[1.0]], [0]), 1, seed=0)
    with pytest.raises(InputError, match="stream must be an ArrayStream"):
        adversaries.label_noise([([1.0], 1)], 1, seed=0)


def test_unit_vectors():
    stream = adversaries.unit_vectors(3)
    assert stream.X.toarray().tolist() == np.eye(3).tolist()
    assert stream.y.tolist() == [-1, -1, -1]
    assert (stream.y * (stream.X @ stream.target)).tolist() == pytest.approx([stream.margin] * 3)


def test_alternating_prefixes_are_those_of_the_exercise():
    stream = adversaries.alternating_prefixes(4)
    assert stream.X.tolist() == [[1, 0, 0, 0], [1, -1, 0, 0], [-1, -1, 1, 0], [1, 1, 1, -1]]
    assert stream.y.tolist() == [1, -1, 1, -1]
    # w_2 > w_1, w_3 >= w_1 + w_2, w_4 > w_1 + w_2 + w_3 in whole numbers from 0: 0, 1, 1, 3
    assert [adversaries.alternating_prefixes(n).least_updates for n in range(1, 9)] == [0, 1, 1, 3, 5, 11, 21, 43]


def test_drift_turns_evenly_and_labels_by_the_target_of_the_round():
    stream = adversaries.drifting(500, 6, turns=2, margin=0.1, seed=3)
    assert (stream.y * (stream.X * stream.targets).sum(axis=1)).min() >= 0.1 - 1e-12
    cosines = (stream.targets[1:] * stream.targets[:-1]).sum(axis=1)
    assert cosines == pytest.approx(np.cos(4 * np.pi / 499))
    assert np.linalg.norm(stream.X, axis=1) == pytest.approx(1)
    still = adversaries.drifting(10, 3, turns=0, seed=0)
    assert (still.targets == still.targets[0]).all()


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: adversaries.separable(0, 2, margin=0.1, seed=0), "rounds"),
        (lambda: adversaries.separable(5, 0, margin=0.1, seed=0), "dimension"),
        (lambda: adversaries.separable(5, 2, margin=0, seed=0), "margin"),
        (lambda: adversaries.separable(5, 2, margin=2, seed=0), "margin"),
        (lambda: adversaries.separable(5, 1, margin=0.5, seed=0), "margin"),
        (lambda: adversaries.separable(5, 2, margin=0.1, seed=0, radius=float("inf")), "radius"),
        (lambda: adversaries.separable(5, 3, margin=1e200, seed=0, radius=1e201), "radius"),
        (lambda: adversaries.label_noise(adversaries.unit_vectors(2), 1.5, seed=0), "rate"),
        (lambda: adversaries.unit_vectors(0), "n"),
        (lambda: adversaries.alternating_prefixes(True), "n"),
        (lambda: adversaries.drifting(1, 2, turns=1, seed=0), "rounds"),
        (lambda: adversaries.drifting(5, 1, turns=1, seed=0), "dimension"),
        (lambda: adversaries.drifting(5, 2, turns=-1, seed=0), "turns"),
        (lambda: adversaries.drifting(5, 2, turns=1, margin=-0.1, seed=0), "margin"),
    ],
)
def test_bad_parameters_are_named(make, parameter):
    with pytest.raises(InputError, match=f"^{parameter} must be"):
        make()


class FollowTheLeader:
    """A stand-in for an algorithm over experts: it predicts as the one with the least loss so far."""

    def __init__(self):
        self.losses = np.zeros(2)

    def predict_one(self, advice):
        return advice[int(np.argmin(self.losses))]

    def learn_one(self, advice, outcome):
        self.losses += np.abs(advice - outcome)


class Mean(FollowTheLeader):
    def predict_one(self, advice):
        return float(np.mean(advice))


def test_two_random_experts():
    stream = adversaries.two_random_experts(2000, seed=3)
    assert len(stream) == 2000
    assert (stream.losses.sum(axis=1) == 1).all()
    assert ((stream.losses[:, 0] == 1) == (stream.outcomes == 1)).all()
    assert 900 < stream.outcomes.sum() < 1100
    for (advice, outcome), losses in zip(stream, stream.losses, strict=True):
        assert np.abs(advice - outcome).tolist() == losses.tolist()
    assert (adversaries.two_random_experts(2000, seed=3).outcomes == stream.outcomes).all()
    assert (adversaries.two_random_experts(2000, seed=4).outcomes != stream.outcomes).any()


@pytest.mark.parametrize("rounds", range(1, 12))
def test_the_expected_regret_of_everyone_is_the_mean_over_all_sequences(rounds):
    total = 0.0
    for code in range(2**rounds):
        outcomes = np.array([code >> t & 1 for t in range(rounds)])
        stream = adversaries.two_random_experts(rounds, seed=0)
        learner, loss = FollowTheLeader(), 0.0
        for (advice, _), outcome in zip(stream, outcomes.tolist(), strict=True):
            loss += abs(learner.predict_one(advice) - outcome)
            learner.learn_one(advice, outcome)
        total += loss - learner.losses.min()
    assert stream.expected_regret == pytest.approx(total / 2**rounds)
    assert stream.expected_regret >= stream.least_regret == pytest.approx((rounds / 8) ** 0.5)


def test_the_lower_bound_of_two_random_experts_for_long_sequences():
    for rounds in (10**3, 10**6):
        stream = adversaries.two_random_experts(rounds, seed=0)
        assert stream.expected_regret == pytest.approx((rounds / (2 * np.pi)) ** 0.5, rel=1e-3)
        assert stream.expected_regret > stream.least_regret


@pytest.mark.parametrize(
    "learner", [FollowTheLeader(), aw.Perceptron(labels=(0, 1)), aw.KernelPerceptron(labels=(0, 1))]
)
def test_no_deterministic_learner_escapes_the_contrary(learner):
    game = adversaries.contrary(learner, 101)
    assert game.loss == 101
    assert game.expert_losses == (sum(game.outcomes), 101 - sum(game.outcomes))
    assert game.regret >= 101 / 2


def test_a_prediction_in_the_middle_does():
    game = adversaries.contrary(Mean(), 10)
    assert (game.loss, game.outcomes, game.regret) == (5.0, (0,) * 10, 5.0)
    with pytest.raises(InputError, match="the learner's prediction must be a number from 0 to 1; received -1"):
        adversaries.contrary(aw.Perceptron(start=[0.0, -1.0]), 3)
    with pytest.raises(InputError, match="learner must be an object with predict_one"):
        adversaries.contrary(3, 3)
    with pytest.raises(InputError, match="learner must be an object with predict_one and learn_one"):
        adversaries.contrary(aw.Perceptron, 3)
    with pytest.raises(InputError, match="the learner's prediction must be a number from 0 to 1; received 'no'"):
        adversaries.contrary(aw.Perceptron(labels=("yes", "no")), 3)
    for make in (lambda: adversaries.contrary(Mean(), 0), lambda: adversaries.two_random_experts(0, seed=1)):
        with pytest.raises(InputError, match="rounds must be"):
            make()


def test_whole_numbers_of_numpy_are_whole_numbers():
    five, seed = np.int64(5), np.uint8(3)
    for given, plain in (
        (adversaries.separable(five, five, margin=0.1, seed=seed), adversaries.separable(5, 5, margin=0.1, seed=3)),
        (adversaries.drifting(five, five, turns=1, seed=seed), adversaries.drifting(5, 5, turns=1, seed=3)),
        (adversaries.alternating_prefixes(five), adversaries.alternating_prefixes(5)),
        (
            adversaries.label_noise(adversaries.unit_vectors(5), 0.5, seed=seed),
            adversaries.label_noise(adversaries.unit_vectors(5), 0.5, seed=3),
        ),
    ):
        assert len(given) == len(plain) == 5
        assert (given.X != plain.X).sum() == 0
        assert given.y.tolist() == plain.y.tolist()
    assert type(adversaries.alternating_prefixes(five).least_updates) is int
    coins = adversaries.two_random_experts(five, seed=seed).outcomes
    assert coins.tolist() == adversaries.two_random_experts(5, seed=3).outcomes.tolist()
    assert adversaries.contrary(Mean(), five).loss == 2.5
    assert aw.play(aw.Perceptron(), adversaries.unit_vectors(five)).mistakes == 5
    learner = aw.Perceptron()
    assert aw.play(learner, adversaries.contrary_disjunction(five, learner)).mistakes == 5


@pytest.mark.parametrize("seed", [None, -1, 0.5, True, "0", 2**64])
def test_a_bad_seed_is_named(seed):
    for make in (
        lambda: adversaries.separable(5, 2, margin=0.1, seed=seed),
        lambda: adversaries.drifting(5, 2, turns=1, seed=seed),
        lambda: adversaries.label_noise(adversaries.unit_vectors(2), 0.5, seed=seed),
        lambda: adversaries.two_random_experts(5, seed=seed),
    ):
        with pytest.raises(InputError, match=r"^seed must be a whole number, at least 0 and below 2\^64; received"):
            make()
