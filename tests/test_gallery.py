"""The gallery: every theorem has its page, whose run shows it, whose picture is within the bound, and whose text is true."""

import matplotlib
import pytest

from afterwit.pictures import Comparison
from docs import figures, gallery, running
from proving.searching import every_theorem

matplotlib.use("Agg")

PAGES = {entry.name: entry for entry in gallery.entries()}


def shown_by(entry, namespace):
    """The theorems that a run shows: by a certificate that has a bound, or by the name of the formula in its lines."""
    applied = set(gallery.assumptions(namespace))
    asked = {key for key, kind in every_theorem().items() if vars(kind).get("id") and f'"{kind.id}"' in entry.markdown}
    return applied | asked


@pytest.mark.installed_only
@pytest.mark.parametrize("name", PAGES)
def test_a_page_prints_what_it_says_and_its_pictures_are_within_the_bounds(name):
    namespace = {}
    with running.ran(PAGES[name].markdown, namespace) as steps:
        figures.keep(PAGES[name].markdown, steps, namespace)
    assert [step.printed for step in steps if step.kind == "python"] == [step.said.code for step in steps if step.said]
    pictures = [step.picture for step in steps if step.kind == "picture"]
    assert pictures
    for picture in pictures:
        assert isinstance(picture, Comparison)
        assert picture.bounds or picture.floors
        assert picture.holds, picture.title
    assert set(PAGES[name].keys) - shown_by(PAGES[name], namespace) == set()


def test_every_theorem_has_its_page():
    listed = {key for entry in PAGES.values() for key in entry.keys}
    assert listed == set(every_theorem())


def test_the_bounds_that_adversaries_attain_are_shown_as_attained():
    attained = {name for name, entry in PAGES.items() if "tight=True" in entry.markdown}
    assert attained >= {
        "halving",
        "littlestone",
        "online-disjunction",
        "perceptron",
        "perceptron-late",
        "multiclass-perceptron",
        "repeat-last-label",
        "repeat-last-target",
        "growth",
    }


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_filled_with_its_theorems(name):
    entry = PAGES[name]
    filled = gallery.filled(entry.markdown)
    assert "<!-- theorems" not in filled
    for step in running.steps(entry.markdown):
        assert filled.count(step.code) >= 1
    for key in entry.keys:
        theorem = gallery.theorem_of(key)
        assert f"<code>{gallery.escape(theorem.statement)}</code>" in filled
        assert f"says\n:   `{theorem.statement}`" in filled
        assert gallery.prose(theorem.citation) in filled
        assert not theorem.id or f"afterwit {'bound' if theorem.asks_for == 'bound' else 'sample-size'}" in filled
    assert filled.count("\nsays\n") == len(entry.keys)


def test_what_a_theorem_does_not_say_that_it_assumes_its_certificate_says():
    namespace = {}
    with running.ran(PAGES["adahedge"].markdown, namespace):
        pass
    (key,) = PAGES["adahedge"].keys
    assumed = gallery.assumptions(namespace)
    assert assumed[key] == [
        "where only losses are known, the loss counted is that of the mixture (enforced by the code)"
    ]
    assert f"assumes\n:   {gallery.prose(assumed[key][0])}\n" in gallery.filled(PAGES["adahedge"].markdown, assumed)
    margin = gallery.filled(PAGES["perceptron"].markdown, {"linear.perceptron.MarginBound": ["something else"]})
    assert "if\n:   w starts at 0 and a hyperplane through 0 separates" in margin
    assert "something else" not in margin


def test_theorems_of_one_name_have_headings_of_their_own():
    headings = [line for line in gallery.filled(PAGES["occam"].markdown).splitlines() if line.startswith("### ")]
    assert headings == ["### Occam's razor: error", "### Occam's razor: probability", "### Occam's razor: sample size"]
    for entry in PAGES.values():
        headings = [line for line in gallery.filled(entry.markdown).splitlines() if line.startswith("### ")]
        assert len(set(headings)) == len(headings) == len(entry.keys)


def test_the_index_has_every_page_with_its_picture_and_the_names_of_its_theorems():
    filled = gallery.filled((gallery.FOLDER / "index.md").read_text())
    for entry in PAGES.values():
        assert f"<!-- thumbnail: {entry.name} --> " in filled
        assert f"]({entry.name}.md)" in filled
        for key in entry.keys:
            assert gallery.prose(gallery.theorem_of(key).name) in filled
    assert {gallery.family_title(entry.family) for entry in PAGES.values()} == {
        title for family in gallery.navigation()[1:] for title in family
    }


def test_a_thumbnail_has_lines_and_no_words(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "KEPT", tmp_path)
    page = "```python\nimport afterwit as aw\nfrom afterwit.pictures import Comparison\n```\n"
    page += '\n<!-- picture: Comparison([1, 2], [1, 1], [2, 3], of="mistakes") -->\n'
    drawn = figures.thumbnail(page)
    assert "<text" not in drawn
    assert "var(--aw-bound" in drawn
    assert "var(--aw-happened" in drawn
    assert len(list(tmp_path.iterdir())) == 1


def test_the_table_of_evidence_is_read_by_theorem():
    found = gallery.evidence()
    assert found["concepts.online_disjunction.DisjunctionBound"][1].startswith("1.0000; tight")
    # Two learners have a theorem of one name: each has its own row.
    assert (
        found["experts.randomized_weighted_majority.RandomizedHorizonBound"]
        != found["experts.second_order_weights.HorizonBound"]
    )
    assert set(found) <= set(every_theorem())
