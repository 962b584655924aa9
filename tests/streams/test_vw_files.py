"""Vowpal Wabbit's own small training files, made anew from what is said of them: what its readers see is seen here."""

import io
import itertools
import random

import numpy as np
import pytest

import afterwit as aw
import naive_readers
from afterwit.errors import StreamError
from afterwit.streams.vw import VwReader


def seen(text):
    """(label, importance, tag, features) of every line; the naive reader sees the same."""
    found = []
    with VwReader(io.BytesIO(text.encode())) as reader:
        while (block := reader.take(1000)) is not None:
            rows, labels = block
            for i, (label, weight, tag) in enumerate(
                zip(labels.tolist(), reader.weights.tolist(), reader.tags, strict=True)
            ):
                span = slice(rows.starts[i], rows.starts[i + 1])
                columns, values = rows.columns[span].tolist(), rows.values[span].tolist()
                found.append((label, weight, tag, {rows.names[j]: v for j, v in zip(columns, values, strict=True)}))
    expected, mistake = naive_readers.vw(text.encode())
    assert mistake is None
    np.testing.assert_equal(found, expected)
    return found


def test_parity_of_three_numbers_after_two_spaces():
    cases = list(itertools.product([1, -1], repeat=3))
    text = "".join(f"{-a * b * c} |f  1:{a} 2:{b} 3:{c}\n" for a, b, c in cases)
    assert seen(text) == [(-a * b * c, 1.0, "", {"f^1": a, "f^2": b, "f^3": c}) for a, b, c in cases]


def test_an_exclusive_or_over_three_namespaces():
    cases = list(itertools.product("xy", repeat=3))
    labels = [case.count("y") % 2 for case in cases]
    text = "".join(f"{y} |a {a} |b {b} |c {c}\n" for y, (a, b, c) in zip(labels, cases, strict=True))
    expected = [
        (y, 1.0, "", {f"a^{a}": 1.0, f"b^{b}": 1.0, f"c^{c}": 1.0}) for y, (a, b, c) in zip(labels, cases, strict=True)
    ]
    assert seen(text) == expected


def test_words_with_labels_that_have_signs():
    stems = ["happi", "ugli", "fast"]
    text = "".join(f"-1 | {stem}ness\n+1 | {stem}er\n" for stem in stems)
    expected = [
        row for stem in stems for row in ((-1, 1.0, "", {f"{stem}ness": 1.0}), (1, 1.0, "", {f"{stem}er": 1.0}))
    ]
    assert seen(text) == expected


def test_a_large_constant_with_a_tag_that_touches_its_bar():
    draw = random.Random(7)
    rows = [(f"{1000 + draw.gauss(0, 1):.6f}", [f"{draw.random():.6f}" for _ in range(22)]) for _ in range(100)]
    letters = "abcdefghijklmnopqrstuv"
    text = "".join(
        f"{label} '{i}|f {' '.join(map(':'.join, zip(letters, values, strict=True)))}\n"
        for i, (label, values) in enumerate(rows, 1)
    )
    assert seen(text) == [
        (float(label), 1.0, str(i), {f"f^{a}": float(v) for a, v in zip(letters, values, strict=True)})
        for i, (label, values) in enumerate(rows, 1)
    ]


def test_a_feature_of_a_thousand_million_beside_one_of_one():
    assert [x for *_, x in seen(2 * "1 |a b:1000000000\n" + "-1 |a b:1\n")] == [
        {"a^b": 1e9},
        {"a^b": 1e9},
        {"a^b": 1.0},
    ]


def test_namespaces_with_and_without_a_name():
    assert [x for *_, x in seen("1 | feature\n2 |namespace feature\n")] == [
        {"feature": 1.0},
        {"namespace^feature": 1.0},
    ]


def test_an_end_without_a_line_end_and_lines_with_returns():
    lines = ["1 |f a:2", "-1 |f b", "1 |f a"]
    assert seen("\n".join(lines)) == seen("\r\n".join(lines) + "\r\n") == seen("\n\n".join(lines))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        # A feature without a name, a value that is a word, labels of other tasks, and lines that belong together.
        ("3 | :1", "a feature as name or name:value was expected"),
        ("+1 | happiness:true", "with a number for the value was expected"),
        ("1:0.5 2:1.5 | a b", "one number as the label was expected"),
        ("1:2:0.4 | a c", "one number as the label was expected"),
        ("shared | a", "one number as the label was expected"),
        ("0,3 | a", "one number as the label was expected"),
    ],
)
def test_what_its_other_files_have_is_refused_in_a_sentence(line, reason):
    with pytest.raises(StreamError, match=rf"line 2: .*{reason}"):
        list(aw.streams.VwStream(io.BytesIO(f"1 | x\n{line}\n".encode())))
