"""Certificates of every theorem are what they were: see kept_certificates.py."""

import json

import pytest

from kept_certificates import FILE, differences, merged, played, subjects

KEPT = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", subjects())
def test_the_certificates_are_as_they_were(name):
    assert differences(KEPT[name], played(name), name) == []


def test_nothing_is_kept_of_subjects_that_are_gone():
    assert set(KEPT) == set(subjects())


def test_most_numbers_do_not_depend_on_the_machine():
    text = FILE.read_text()
    assert text.count('"varies"') < 0.02 * text.count(": ")


def test_what_differs_is_found_and_what_varies_is_left_out():
    one = {"bound": 1.0, "inputs": {"u": 2.0}, "list": [1.0, "a"]}
    assert differences(one, {"bound": 1.0 + 1e-9, "inputs": {"u": 2.0}, "list": [1.0, "a"]}) == []
    other = {"bound": 1.1, "inputs": {"u": 2.0}, "list": [1.0, "b"]}
    assert differences(one, other) == [".bound: 1.1, was 1.0", ".list[1]: 'b', was 'a'"]
    assert differences(merged(one, other), one) == differences(merged(one, other), other) == []
    assert differences([one], []) == ["".join((": [], was ", repr([one])))]
