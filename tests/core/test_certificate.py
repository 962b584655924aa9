import json
import pickle

import numpy as np
import pytest

import afterwit as aw
from afterwit.core.certificate import (
    Assumption,
    Basis,
    Ceiling,
    Certificate,
    Evidence,
    Hindsight,
    Theorem,
    Verdict,
    apply,
    shown_number,
    tightest_first,
)


class Pigeons(Theorem):
    name = "pigeonhole bound"
    statement = "mistakes <= holes"
    citation = "Dirichlet 1834, Theorem <1>"
    quantity = "mistakes"

    def certify(self, evidence):
        return certificate(observed=evidence)


def certificate(observed=3, bound=5.0, rounds=10, assumptions=(), theorem=None, **more):
    return Certificate(theorem or Pigeons(), "Learner", rounds, observed, bound, tuple(assumptions), **more)


def spaced(text):
    """The text without its line breaks."""
    return " ".join(text.split())


YES = Assumption("it is so", Basis.OBSERVED, True, "looked")
NO = Assumption("it is so", Basis.OBSERVED, False, "it is not")
UNKNOWN = Assumption("it is so", Basis.OBSERVED, None)
PROMISE = Assumption("you say so", Basis.PROMISED, None)
BROKEN = Assumption("you say so", Basis.PROMISED, False)


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (certificate(), Verdict.HOLDS),
        (certificate(observed=5), Verdict.HOLDS),
        (certificate(observed=6), Verdict.VIOLATED),
        (certificate(observed=5, bound=5 - 1e-12, rounding=2e-12), Verdict.HOLDS),
        (certificate(observed=5, bound=5 - 3e-12, rounding=2e-12), Verdict.VIOLATED),
        (certificate(observed=5, bound=5 - 1e-12), Verdict.VIOLATED),
        (certificate(bound=None), Verdict.NOT_APPLICABLE),
        (certificate(assumptions=[YES, PROMISE]), Verdict.HOLDS),
        (certificate(assumptions=[YES, NO]), Verdict.NOT_APPLICABLE),
        (certificate(assumptions=[UNKNOWN]), Verdict.NOT_APPLICABLE),
        (certificate(assumptions=[BROKEN]), Verdict.NOT_APPLICABLE),
        (certificate(observed=9, assumptions=[NO]), Verdict.NOT_APPLICABLE),
    ],
)
def test_verdicts(made, verdict):
    assert made.verdict is verdict


def test_a_violation_is_loud():
    assert "THIS IS A BUG IN AFTERWIT" in str(certificate(observed=6))


class Dice(Pigeons):
    chance = "on average over its own draws"


def test_a_bound_on_an_average_is_not_broken_by_one_run():
    above, below = (Certificate(Dice(), "Learner", 10, observed, 5.0, ()) for observed in (6, 4))
    assert above.verdict is below.verdict is Verdict.HOLDS
    assert "at most 5 mistakes, on average over its own draws" in str(above)
    assert "holds, on average over its own draws; this run is above it, as single runs may be" in str(above)
    assert "this run is above it" not in str(below)
    assert above.to_dict()["theorem"]["chance"] == "on average over its own draws"
    assert Dice() != Pigeons()


def test_a_vacuous_bound_says_so():
    ceiling = Ceiling(10, "no run of this length could break the bound")
    made = certificate(bound=10.0, ceiling=ceiling)
    assert made.vacuous
    assert "holds, but the bound says nothing here: no run of this length could break the bound" in str(made)
    assert "vacuous" in made.line()
    assert not certificate(bound=9.99, ceiling=ceiling).vacuous


def test_what_stands_in_the_way_is_named():
    made = certificate(assumptions=[YES, NO, BROKEN, UNKNOWN])
    assert made.failed == (NO, BROKEN, UNKNOWN)
    # Where something is known not to hold, what was not looked into is no reason.
    assert made.why_not() == ["it is not", "this does not hold: you say so"]
    assert made.line() == "pigeonhole bound: not applicable (it is not; this does not hold: you say so)"
    assert str(made).splitlines()[-3:] == [
        "  verdict    not applicable",
        "  because    it is not",
        "             this does not hold: you say so",
    ]
    assert certificate(assumptions=[YES, UNKNOWN]).why_not() == ["this does not hold: it is so"]


class Announced(Pigeons):
    beforehand = True


def test_it_prints_the_three_numbers():
    made = certificate(
        bound=5.7,
        rounds=1000,
        assumptions=[YES, PROMISE],
        hindsight=Hindsight(1, "by the best"),
        inputs={"R": 2.0, "gamma": 0.12345678, "comparator": "svm"},
        others=(certificate(bound=8.0),),
    )
    summary = [
        "Learner, 1,000 rounds",
        "  bound      at most 5 mistakes, computed afterwards (0.50% of the rounds)",
        "  happened   3 mistakes (0.30% of the rounds)",
        "  hindsight  1 mistake (0.10% of the rounds) by the best",
        "  verdict    holds",
    ]
    assert str(made).splitlines() == summary
    assert made.details().splitlines() == [
        *summary,
        "  theorem    pigeonhole bound (Dirichlet 1834, Theorem <1>)",
        "             mistakes <= holes",
        "             with R = 2, gamma = 0.1235, comparator = svm",
        "  assumes    [yes] it is so (observed on the data: looked)",
        "             [assumed] you say so (the caller's promise)",
        "  also       pigeonhole bound: at most 8 mistakes (holds; Dirichlet 1834, Theorem <1>)",
    ]
    assert "  promised   at most 5 mistakes (50.00% of the rounds)" in str(certificate(theorem=Announced()))


class Beforehand(Pigeons):
    beforehand = True


def test_only_what_could_be_known_beforehand_was_promised():
    made = Certificate(Beforehand(), "Learner", 10, 3, 5.0, ())
    assert str(made).splitlines()[1] == "  promised   at most 5 mistakes (50.00% of the rounds)"
    assert made.to_dict()["theorem"]["beforehand"] is True
    assert certificate().to_dict()["theorem"]["beforehand"] is False


class Loss(Pigeons):
    quantity = "loss"


def test_sums_are_shown_per_round_too():
    made = Certificate(Loss(), "Learner", 100, 4.0, 9.0, (), Hindsight(1.0, "by the best"))
    assert str(made).splitlines()[1:4] == [
        "  bound      loss at most 9, computed afterwards (0.09 per round)",
        "  happened   loss 4 (0.04 per round)",
        "  hindsight  loss 1 (0.01 per round) by the best",
    ]
    squares = Certificate(Loss(), "Learner", 100, 4.0, 9.0, (), squares=True)
    assert str(squares).splitlines()[2] == "  happened   loss 4 (RMSE 0.2)"


def test_a_bound_above_what_any_run_could_reach_says_nothing():
    made = Certificate(Loss(), "Learner", 100, 4.0, 9.0, (), ceiling=Ceiling(9.0, "weights at 0 lose no more"))
    assert made.vacuous
    assert made.verdict is Verdict.HOLDS
    assert "holds, but the bound says nothing here: weights at 0 lose no more" in spaced(str(made))
    below = Certificate(Loss(), "Learner", 100, 4.0, 8.9, (), ceiling=Ceiling(9.0, "weights at 0 lose no more"))
    assert not below.vacuous


def test_its_html_is_escaped():
    made = certificate(hindsight=Hindsight(1, "<b>"))._repr_html_()
    assert "Theorem &lt;1&gt;" in made
    assert "&lt;b&gt;" in made
    assert made.count("<table>") == made.count("</table>") == 2
    assert made.count("<details>") == made.count("</details>") == 1
    assert made.count("<tr>") == made.count("</tr>")


def test_what_a_certificate_is_made_of_stays_beside_it():
    class Parts(Pigeons):
        def certify(self, evidence):
            return certificate(bound=4.0, others=(certificate(bound=1.0),))

    class Elsewhere(Pigeons):
        quantity = "updates"

        def certify(self, evidence):
            return certificate(bound=2.0, theorem=self)

    made = apply([Parts(), Pigeons(), Elsewhere()], 3)
    assert made.bound == 4.0
    assert [other.bound for other in made.others] == [5.0, 1.0, 2.0]


def test_evidence_shows_no_bound_where_an_assumption_fails():
    class Counted(Evidence):
        def observed(self, theorem):
            return 3

    evidence = Counted(subject="Learner", rounds=10, assumptions=(YES,))
    applied, refused = (evidence.certificate(Pigeons(), 5.0, {"R": 1.0}, each) for each in (PROMISE, NO))
    assert (applied.bound, dict(applied.inputs), applied.ceiling.value) == (5.0, {"R": 1.0}, 10)
    assert (refused.bound, dict(refused.inputs), refused.observed) == (None, {}, 3)


def test_it_cannot_be_changed():
    made = certificate(inputs={"R": 1.0})
    with pytest.raises(AttributeError):
        made.bound = 7
    with pytest.raises(TypeError):
        made.inputs["R"] = 7


def test_it_travels():
    learner = aw.Perceptron()
    learner.learn_many([[1.0, 0.0], [1.0, 1.0]], [-1, 1])
    made = learner.certificate([[1.0, 0.0], [1.0, 1.0]], [-1, 1])
    again = json.loads(json.dumps(made.to_dict()))
    assert again["verdict"] == "holds"
    assert again["observed"] == made.observed
    late = sum(theorem.late for theorem in learner.theorems)
    assert len(again["others"]) == len(learner.theorems) - late - 2, "one theorem is about several passes only"
    unpickled = pickle.loads(pickle.dumps(made))
    assert unpickled.to_dict() == made.to_dict()
    assert str(unpickled) == str(made)


def test_tightest_first():
    loose, tight, off = certificate(bound=9.0), certificate(bound=4.0), certificate(bound=None)
    first = tightest_first([off, loose, tight])
    assert first.bound == 4.0
    assert [other.bound for other in first.others] == [9.0, None]
    tie = tightest_first([certificate(bound=4.0, rounds=1), certificate(bound=4.0 * (1 - 1e-13), rounds=2)])
    assert tie.rounds == 1, "bounds that differ by rounding keep the given order"


@pytest.mark.parametrize(
    ("bound", "shown"), [(5.0, "5"), (4.999999999999, "5"), (4.99, "4"), (12345.6, "12,345"), (1e300, "1e+300")]
)
def test_a_count_is_bounded_by_a_whole_number(bound, shown):
    text = certificate(bound=bound, rounding=1e-11).line()
    assert f"at most {shown} mistakes" in text or bound == 1e300


def test_large_numbers_are_short():
    shown = [shown_number(value) for value in (9_999.5, 123_456.7, 987_654_321_012_345.0, 1e15, -2.5e300)]
    assert shown == ["10,000", "123,457", "987,654,321,012,345", "1e+15", "-2.5e+300"]


def test_it_is_ready_for_json_whatever_numbers_it_was_made_of():
    made = certificate(observed=np.float64(3), bound=np.float64(5), ceiling=Ceiling(np.int64(4), "no run is longer"))
    assert json.loads(json.dumps(made.to_dict(), allow_nan=False))["vacuous"] is True
    assert (type(made.observed), type(made.bound)) == (float, float)


def test_no_share_above_all_rounds():
    assert "of the rounds" not in str(certificate(bound=12.0)).splitlines()[1]
