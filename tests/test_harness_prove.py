"""A short, seeded part of `make prove`; that no theorem is left out; and that the harness sees what it looks for."""

import dataclasses
from pathlib import Path

import pytest

import afterwit as aw
from afterwit.certify import descent as checker_of_descent
from afterwit.certify import experts as checker_of_experts
from afterwit.certify import replay
from afterwit.concepts import _batch_rule as rule_theorems
from afterwit.core.certificate import Assumption, Basis
from afterwit.core.theorem import Theorem
from afterwit.experts import online_shortest_path as path_theorems
from afterwit.experts.adahedge import AdaHedgeBound
from afterwit.experts.mlpol import PolynomialPotentialBound
from afterwit.kernels.kernel_perceptron import BudgetBound
from afterwit.linear._regret import LargestGradientBound
from afterwit.linear.perceptron import MarginBound
from afterwit.reductions.committee import ExpectedMistakesBound
from proving import judging, report, searching

searching.load()
PAGE = (Path(__file__).resolve().parent.parent / "docs" / "evidence.md").read_text()
SEED = 1
#: How many sequences of a subject are played here; fewer where each takes long.
COUNT = 25
FEWER = {
    "Exp3": 10,
    "hindsight": 10,
    "OneVsRest": 5,
    "kernel_margin_bound": 5,
    "the perceptron's adversary": 5,
    "the SVM left out": 8,
}


def problems(table):
    return [
        f"{where}: {theorem} {kind}: {detail}"
        for theorem, _, kind, _, shown in report.problems_of(table)
        for where, detail in shown
    ]


# ---------------------------------------------------------------------- the search


@pytest.mark.parametrize("name", list(searching.SUBJECTS))
def test_no_sequence_breaks_a_theorem(name):
    table = searching.part(name, SEED, 0, 1, FEWER.get(name, COUNT), 1e9)
    for row in table.rows.values():
        row.conclude()
    assert problems(table) == []
    assert searching.unseen(table, name) == []


# ---------------------------------------------------------------------- nothing is left out


def test_every_theorem_has_an_oracle_and_every_learner_with_theorems_is_played():
    assert searching.uncovered() == ([], [])
    assert len(searching.every_theorem()) > 120


def test_a_theorem_without_an_oracle_is_noticed():
    class Stranger(Theorem):
        __module__ = "stranger.theorems"
        name = "a theorem that nobody judges"

    assert searching.uncovered("stranger")[0] == ["stranger.theorems.Stranger"]


def test_a_learner_that_nobody_plays_is_noticed(monkeypatch):
    monkeypatch.delitem(searching.SUBJECTS, "AveragedPerceptron")
    assert searching.uncovered() == ([], ["AveragedPerceptron"])


def test_the_page_has_a_row_for_every_theorem():
    rows = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.splitlines() if line.startswith("| ")]
    missing = [name for name, *_ in report.lines_of(judging.Table()) if name not in rows]
    assert missing == [], "run make prove"


def test_a_sequence_is_the_same_whoever_plays_it():
    one = searching.search(3, count=4, only="AdaHedge")
    two = searching.search(3, count=4, only="AdaHedge", workers=2)
    assert report.as_text(one) == report.as_text(two)
    assert one.played == 4


# ---------------------------------------------------------------------- the judgement


def certificate():
    """Two experts, of which one is always right: the regret is 0.5, the bound larger."""
    learner = aw.AdaHedge(2, gradient=False)
    learner.observe([0.0, 1.0])
    return learner.certificate()


def kinds(made, truth):
    table = judging.Table()
    table.certificate(made, "AdaHedge", truth)
    (row,) = table.rows.values()
    return set(row.problems)


def test_a_true_certificate_is_left_alone():
    made = certificate()
    assert made.observed == 0.5 < made.bound
    assert kinds(made, judging.Truth(0.5, made.bound, 1e-12)) == set()


def test_what_is_wrong_with_a_certificate_is_found():
    made = certificate()
    above = dataclasses.replace(made, observed=2 * made.bound)
    assert judging.CALLED_VIOLATED in kinds(above, judging.Truth(2 * made.bound, made.bound, 1e-12))
    assert kinds(made, judging.Truth(0.4, made.bound, 1e-12)) == {judging.MISREPORTED}
    assert kinds(made, judging.Truth(0.5, 1.1 * made.bound, 1e-12)) == {judging.MISSTATED}
    assert judging.EXCEEDED in kinds(made, judging.Truth(0.5, 0.4, 1e-12))
    assert judging.EXCEEDED in kinds(made, judging.Truth(0.5, made.bound, 1e-12, excess=0.1))


def test_a_verdict_that_would_not_notice_is_found(monkeypatch):
    monkeypatch.setattr(type(certificate()), "verdict", property(lambda _: "holds"))
    assert kinds(certificate(), judging.Truth(0.5, None, 1e-12)) == {judging.BLIND}


@pytest.mark.parametrize(("forgiven", "kind"), [(1e-6, judging.BLIND), (-1e-6, judging.STRICT)])
def test_a_verdict_that_forgives_a_little_more_or_less_is_found(forgiven, kind, monkeypatch):
    verdict = property(lambda made: "holds" if made.observed <= (1 + forgiven) * made.bound else "violated")
    monkeypatch.setattr(type(certificate()), "verdict", verdict)
    assert kinds(certificate(), judging.Truth(0.5, None, 1e-12)) == {kind}


def test_a_certificate_that_says_rounding_did_a_lot_is_found():
    made = dataclasses.replace(certificate(), rounding=1e-6)
    assert kinds(made, judging.Truth(0.5, made.bound, 1e-12)) == {judging.BLIND}


def test_bounds_that_an_oracle_computed_are_counted():
    made, table = certificate(), judging.Table()
    table.certificate(made, "AdaHedge", judging.Truth(0.5, None, 1e-12))
    table.certificate(made, "AdaHedge", judging.Truth(0.5, made.bound, 1e-12))
    table.stated("a theorem", "its formula", 2.0, 2.0)
    assert [row.recomputed for row in table.rows.values()] == [1, 1]
    table.stated("a theorem", "its formula", 2.0, 2.1)
    assert [kind for _, _, kind, *_ in report.problems_of(table)] == [judging.MISSTATED]


def test_frequencies_and_means_are_judged_together():
    row = judging.Row(sequences=200, above=60, delta=0.1)
    row.conclude()
    assert set(row.problems) == {judging.TOO_OFTEN}
    row = judging.Row(sequences=200, above=30, delta=0.1)  # not certain yet
    row.conclude()
    assert not row.problems
    row = judging.Row(means=[100, 150.0, 230.0])
    row.conclude()
    assert set(row.problems) == {judging.TOO_MUCH}
    row = judging.Row(means=[100, 90.0, 400.0])
    row.conclude()
    assert not row.problems


def test_an_error_is_a_finding(monkeypatch):
    def fails(table, random):
        raise ValueError("broken")

    monkeypatch.setitem(searching.SUBJECTS, "AdaHedge", fails)
    table = searching.part("AdaHedge", 0, 0, 1, 2, 1e9)
    assert [(name, kind, count) for _, name, kind, count, _ in report.problems_of(table)] == [
        ("AdaHedge", "an error", 2)
    ]


@pytest.mark.parametrize(
    ("theorem", "subject", "factor"),
    [
        (AdaHedgeBound, "AdaHedge", 0.9),
        (MarginBound, "Perceptron", 0.9),
        (MarginBound, "the perceptron's adversary", 1.1),
        (ExpectedMistakesBound, "Committee", 1.1),
        (BudgetBound, "DualPerceptron", 1.1),
        (PolynomialPotentialBound, "MLpol", 0.9),
        (LargestGradientBound, "OnlineSVM", 1.1),
    ],
)
def test_a_bound_with_another_constant_is_found(theorem, subject, factor, monkeypatch):
    right = theorem.bound
    monkeypatch.setattr(theorem, "bound", staticmethod(lambda *values: factor * right(*values)))
    assert problems(searching.part(subject, SEED, 0, 1, FEWER.get(subject, COUNT), 1e9))


@pytest.mark.parametrize(
    ("module", "name", "subject"),
    [
        (replay, "same_rounds", "other rounds of examples"),
        (checker_of_experts, "check_rounds", "other rounds of experts"),
        (path_theorems, "within_horizon", "OnlineShortestPath"),
        (checker_of_descent, "never_stood_still", "OnlineSVM"),
        (rule_theorems, "right_on_all", "ID3"),
    ],
)
def test_an_assumption_that_is_not_looked_into_is_found(module, name, subject, monkeypatch):
    met = Assumption("as always", Basis.PROMISED, True)
    right = getattr(module, name)

    def careless(*given):
        found = right(*given) if name == "same_rounds" else None
        return (met, found[1]) if name == "same_rounds" else met

    monkeypatch.setattr(module, name, careless)
    found = problems(searching.part(subject, SEED, 0, 1, COUNT, 1e9))
    assert any(judging.APPLIED in each for each in found)
