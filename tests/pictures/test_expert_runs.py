"""Pictures of expert runs: which there are, long runs, and hostile ones."""

import math
import pickle
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest

import afterwit as aw
import naive_pictures as naive
from afterwit.core.certificate import shown_number
from afterwit.experts import play, play_losses
from afterwit.pictures._pieces import means, most_frequent, sparse, starts
from expert_cases import advice_rounds

matplotlib.use("Agg")

nan = math.nan
EVERY_KIND = ["regret", "losses", "loss", "weights", "leaders", "shares", "contributions", "residuals"]


# ---------------------------------------------------------------------- long runs in few pieces


@pytest.mark.parametrize("count", [1, 2, 5, 8, 9, 31])
def test_pieces_have_the_means_of_their_rounds(count):
    rows = np.random.default_rng(count).random((count, 3))
    assert means(rows, starts(count, 4)).tolist() == pytest.approx(np.array(naive.pieces(rows.tolist(), 4)))
    assert len(starts(count, 4)) <= 4


def test_a_piece_belongs_to_the_most_frequent():
    assert most_frequent(np.array([0, 1, 1, 2, 2, 0, 1]), np.array([0, 3, 6]), 3).tolist() == [1, 2, 1]


def test_points_on_a_logarithmic_axis_can_be_told_apart():
    rounds = np.arange(1, 10_001)
    kept = rounds[sparse(rounds, most=50)]
    assert len(kept) <= 51
    assert (kept[0], kept[-1]) == (1, 10_000)
    assert sparse(np.array([7]), most=50).tolist() == [0]


def test_pictures_of_a_long_run_are_small():
    advice, outcomes = advice_rounds(20_000, 8)
    record = play(aw.ConformalIntervals(aw.MLpol(8)), advice, outcomes)
    sizes = {kind: len(picture.svg()) for kind, picture in record.pictures().items()}
    assert max(sizes.values()) < 30_000, sizes


# ---------------------------------------------------------------------- which pictures there are


def test_the_kinds_of_a_run():
    assert list(play(aw.MLpol(3), *advice_rounds(20, 3)).pictures()) == EVERY_KIND
    record = play(aw.ConformalIntervals(aw.MLpol(3)), *advice_rounds(20, 3))
    assert list(record.pictures()) == ["regret", "coverage", "intervals", *EVERY_KIND[1:]]


def kinds(record):
    return list(record.pictures())


def test_kinds_that_make_no_sense_are_not_there():
    advice, outcomes = advice_rounds(20, 3)
    assert kinds(play_losses(aw.AdaHedge(3), advice)) == ["regret", "losses", "loss", "weights", "leaders", "shares"]
    vectors = np.stack([advice, 1 - advice], axis=2)
    learner = aw.AggregatingAlgorithm(3, outcomes=("yes", "no"))
    assert kinds(play(learner, vectors, ["yes", "no"] * 10)) == [
        "regret",
        "losses",
        "loss",
        "weights",
        "leaders",
        "shares",
    ]
    labels = aw.WeightedMajority(3, beta=0.5)
    assert kinds(play(labels, np.round(advice), np.round(outcomes))) == EVERY_KIND[:6]
    assert kinds(play(aw.MLpol(3), advice, outcomes, keep_shares=False)) == ["regret", "losses", "loss", "residuals"]
    # The square-loss forecast of the aggregating algorithm is no mean of the advice.
    square = aw.AggregatingAlgorithm(3, loss="square", outcomes=(0, 1))
    assert "contributions" not in kinds(play(square, advice, outcomes))
    assert kinds(play(aw.MLpol(3), advice[:0], outcomes[:0])) == ["regret"]


def test_a_record_that_was_pickled_has_what_it_knows_itself():
    advice, outcomes = advice_rounds(40, 3)
    record = play(aw.MLpol(3, loss_range=(-2, 2)), advice, outcomes)
    again = pickle.loads(pickle.dumps(record))
    assert (again.advice, again.moments(), again.best_mixture) == (None, [], None)
    assert kinds(again) == ["regret", "losses", "loss", "weights", "leaders", "shares", "residuals"]
    bound = again.pictures()["regret"].table().rows[-1][2]
    assert bound.removesuffix(" (vacuous)") == shown_number(record.bound_curve[-1])
    mean = dict(again.pictures()["losses"].table().rows)["mean of the experts"]
    assert mean == shown_number(math.sqrt(record.expert_losses.mean()))


def test_of_a_learner_that_goes_on_no_bound_is_drawn():
    advice, outcomes = advice_rounds(40, 3)
    learner = aw.ConformalIntervals(aw.MLpol(3))
    learner.learn_many(advice[:25], outcomes[:25])
    record = play(learner, advice[25:], outcomes[25:])
    assert (record.earlier, record.moments(), record.coverage_moments()) == (25, [], [])
    pictures = record.pictures()
    assert "The learner had learned 25 rounds before" in pictures["regret"].caption
    assert "The learner had learned 25 rounds before" in pictures["coverage"].caption
    assert {row[2] for row in pictures["regret"].table().rows} == {""}


def test_without_a_bound_on_this_regret_the_caption_says_why():
    record = play(aw.MLpol(3, discount=0.9), *advice_rounds(40, 3))
    bound = shown_number(record.certificate.bound)
    assert f"The bound is on the discounted regret, at most {bound}" in record.pictures()["regret"].caption


# ---------------------------------------------------------------------- hostile runs


def only_one_awake():
    advice, outcomes = advice_rounds(40, 6)
    advice[:, 1:] = nan
    return play(aw.MLpol(6), advice, outcomes)


def waking_late():
    advice, outcomes = advice_rounds(40, 4)
    return play(aw.MLpol(4), np.where(np.arange(40)[:, np.newaxis] < [0, 5, 20, 39], nan, advice), outcomes)


def named(*names):
    return play(aw.MLpol(names), *advice_rounds(30, len(names)))


def scaled(by):
    advice, outcomes = advice_rounds(40, 3)
    return play(aw.MLpol(3), by * advice, by * outcomes)


def infinite_losses():
    advice = np.array([[0.5, 1.0, 0.3], [0.5, 0.0, 0.2], [0.4, 0.3, 0.2], [0.5, 0.5, 0.5]])
    return play(aw.ExponentialWeights(3, loss="log"), advice, [0, 1, 1, 0])


def infinite_losses_of_vectors():
    advice = np.array([[[1, 0, 0], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]] * 5, dtype=float)
    return play(aw.AggregatingAlgorithm(3, loss="log", outcomes=3), advice, [1, 2, 0, 1, 1])


def intervals(count, **options):
    return play(aw.ConformalIntervals(aw.MLpol(3), **options), *advice_rounds(count, 3))


def labels_by_chance():
    advice, outcomes = (np.round(each) for each in advice_rounds(40, 6))
    return play(aw.RandomizedWeightedMajority(6, horizon=40), advice, outcomes)


HOSTILE = {
    "no round": lambda: play(aw.MLpol(3), *advice_rounds(0, 3)),
    "one round": lambda: play(aw.MLpol(3), *advice_rounds(1, 3)),
    "one round of one expert": lambda: play(aw.MLpol(1), *advice_rounds(1, 1)),
    "300 experts": lambda: play(aw.MLpol(300), *advice_rounds(20, 300)),
    "all asleep but one": only_one_awake,
    "waking late": waking_late,
    "always right": lambda: play(aw.MLpol(3), np.ones((30, 3)), np.ones(30)),
    "all alike": lambda: play(aw.MLpol(3), np.full((30, 3), 2.0), np.arange(30.0)),
    "tiny": lambda: scaled(1e-200),
    "huge": lambda: scaled(1e70),
    "below zero": lambda: scaled(-1.0),
    "long names": lambda: named(*("forecast_" * 22 + str(i) for i in range(9))),
    "names of other things": lambda: named("learner", "best mixture", "a\nb", "$x^2$", "<b>&", "\x00", ""),
    "infinite losses": infinite_losses,
    "infinite losses of vectors": infinite_losses_of_vectors,
    "followed by chance": labels_by_chance,
    "losses below zero": lambda: play_losses(aw.AdaHedge(3), advice_rounds(30, 3)[0] - 2),
    "one interval": lambda: intervals(1),
    "tracked intervals": lambda: intervals(70, method="tracking", rate=0.1),
    "promised intervals": lambda: intervals(70, method="tracking", largest=1.0),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_no_picture_is_empty_or_fails(case):
    record = HOSTILE[case]()
    for kind, picture in record.pictures().items():
        made = picture.table()
        assert all(len(row) == len(made.heads) for row in made.rows)
        assert made.rows or not record.rounds
        assert picture.title
        assert picture.caption.endswith(".")
        text = picture.svg()
        root = ElementTree.fromstring(text)
        drawn = [each for each in root.iter() if each.tag.endswith(("path", "use"))]
        assert drawn or not record.rounds, kind
        assert "nan" not in "".join(cell for row in made.rows for cell in row), kind
        assert not any("nan" in value for each in root.iter() for value in each.attrib.values()), kind


def test_names_in_pictures_are_short_and_in_tables_whole():
    names = ["forecast_" * 22 + str(i) for i in range(3)]
    picture = named(*names).pictures()["weights"]
    words = [text.get_text() for text in picture.plot().ax_.texts]
    assert max(map(len, words)) < 40
    assert sorted(picture.table().heads[1:]) == names


def test_a_vacuous_bound_is_said_to_be_so():
    record = play(aw.MLpol(3), *advice_rounds(1, 3))
    picture = record.pictures()["regret"]
    assert picture.table().rows[0][2].endswith(" (vacuous)")
    assert "which no run could break" in picture.caption


def test_groups_have_a_report_with_their_sum():
    advice, outcomes = advice_rounds(40, 3)
    learner = aw.PerGroup(aw.MLpol(3))
    learner.learn_many(["north", "south"] * 20, advice, outcomes)
    text = learner.certificate().report().html
    assert "2 groups, each with a learner of its own" in text
    assert "The groups of PerGroup(MLpol), 2 groups" in text
