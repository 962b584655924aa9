"""The pictures of hostile things in a real browser, wide and on a phone: no text leaves its frame or covers another."""

from dataclasses import replace

import numpy as np
import pytest

import afterwit as aw
from afterwit.concepts import FiniteClass, monotone_disjunctions
from browser import DESKTOP, PHONE


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def many_classes():
    X, labels = drawn(200, 3), np.array([f"a long name of a class {i % 12}" for i in range(200)])
    return aw.play(aw.OneVsRest(aw.Perceptron()), X, labels, predictions=True)


def game(rows, columns, unit=1.0):
    names = [[f"a very long name of a choice, number {i}" for i in range(count)] for count in (rows, columns)]
    return aw.solve_game(unit + drawn(rows, columns), gap=0.01, method="regret-matching+").named(*names)


def heavy_features():
    X = drawn(100, 2) * [1e9, 1e-9]
    names = ("a rather long name of a feature", "b")
    pairs = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    return aw.play(
        aw.NormalizedAdaGrad(labels=("no " * 20, "yes")), [(x, "yes" if x["b"] > 0 else "no " * 20) for x in pairs]
    )


def groups():
    learner = aw.PerGroup(aw.MLpol(["low", "high"]))
    names = [f"a region with a very long name {i % 2}" for i in range(60)]
    rounds = (names, [{"low": 1.0, "high": 2.0}] * 60, [1.0 + i % 2 for i in range(60)])
    learner.learn_many(*rounds)
    return learner.certificate(*rounds)


def far_bound():
    X = drawn(60, 3)
    return replace(aw.play(aw.AdaGrad(), X, np.where(X[:, 0] > 0, 1, -1)).certificate(), bound=1e30)


THINGS = {
    "many classes": many_classes,
    "parts": lambda: many_classes().certificate(),
    "groups": groups,
    "far bound": far_bound,
    "features and plane": heavy_features,
    "large game": lambda: game(20, 20),
    "small game of large payoffs": lambda: game(2, 2, unit=1e9),
    "large class": lambda: monotone_disjunctions(12),
    "small class": lambda: FiniteClass([[0, 1], [1, 1]], names=["a very long name of a hypothesis", "b"]),
}


@pytest.mark.parametrize("name", THINGS)
def test_pictures_in_a_page(browser, tmp_path, name):
    THINGS[name]().report(tmp_path / "report.html")
    for width in (DESKTOP, PHONE):
        assert browser.look(tmp_path / "report.html", width).faults == []
