"""Reports, as text and in a real browser."""

import re
import sys
from xml.etree import ElementTree

import html5lib
import matplotlib
import numpy as np
import pytest

import afterwit as aw
from afterwit.core import moments
from afterwit.core.certificate import Assumption, Basis, Ceiling, Certificate, Hindsight, Theorem
from afterwit.core.pictured import Pictured
from afterwit.errors import InputError, MissingExtraError
from afterwit.pictures import HOMES, _page, _parts
from afterwit.pictures._part import Part
from afterwit.pictures._picture import Picture, Table
from browser import DESKTOP, PHONE

matplotlib.use("Agg")

HOSTILE = "<script>alert('x')</script>\"'&amp;]]>"


class Pigeons(Theorem):
    name = "pigeonhole bound"
    statement = "mistakes <= holes"
    citation = f"Dirichlet {HOSTILE}"
    quantity = "mistakes"


def certificate(observed=3, bound=5.0, rounds=10, assumptions=(), **more):
    return Certificate(Pigeons(), f"Learner {HOSTILE}", rounds, observed, bound, tuple(assumptions), **more)


def race(count=300, **how):
    X, y = rounds(count)
    return aw.race(X, ["perceptron", "sgd", "normalized-adagrad"], y=y, **how)


def rounds(count, seed=0, width=3):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(count, width))
    return X, np.where(X @ np.arange(1.0, width + 1) + generator.normal(size=count) > 0, 1, -1)


def run(count=300, learner=None, **how):
    return aw.play(learner or aw.Perceptron(), *rounds(count), **how)


def hostile_run():
    names = [HOSTILE, 'a"b', "word" * 30]
    X, y = rounds(60)
    records = [
        {**dict(zip(names, x, strict=True)), "<y>": f"<{label}>"} for x, label in zip(X.tolist(), y, strict=True)
    ]
    stream = aw.read(records, target="<y>")
    return aw.play(aw.Model(stream.schema, aw.AdaGrad(labels=stream.labels)), stream)


def experts_run(count=200, names=("a", "b", "c"), intervals=False):
    generator = np.random.default_rng(1)
    outcomes = generator.random(count)
    advice = outcomes[:, np.newaxis] + generator.normal(size=(count, len(names))) / np.arange(1, len(names) + 1)
    learner = aw.MLpol(names)
    return aw.experts.play(aw.ConformalIntervals(learner) if intervals else learner, advice, outcomes)


def game(**how):
    M = [[3.0, -1.0, 0.5], [-2.0, 1.0, 2.0]]
    solution = aw.solve_game(M, gap=0.01, **how)
    return solution.report(certificate=solution.certificate(M) if solution.theorems else None)


NO = Assumption("it is <so>", Basis.OBSERVED, False, "it is not")
PROMISE = Assumption("you say so", Basis.PROMISED, None)
REPORTS = {
    "record": lambda: run().report(),
    "regression": lambda: aw.play(aw.OnlineRidge(), *rounds(300)).report(),
    "one round": lambda: run(1).report(),
    "no rounds": lambda: aw.play(aw.Perceptron(), []).report(),
    "passes": lambda: run(passes=3).report(),
    "no theorem": lambda: run(learner=aw.NormalizedAdaGrad()).report(),
    "committee": lambda: run(learner=aw.Committee()).report(),
    "hostile": lambda: hostile_run().report(),
    "certificate": lambda: run().certificate().report(),
    "not applicable": lambda: certificate(bound=None, assumptions=[NO, PROMISE]).report(),
    "violated": lambda: certificate(observed=6, hindsight=Hindsight(1, HOSTILE)).report(),
    "vacuous": lambda: certificate(bound=10.0, ceiling=Ceiling(10, "no run has more")).report(),
    "huge": lambda: certificate(observed=10**14, bound=1e300, rounds=10**15).report(),
    "experts": lambda: experts_run().report(),
    "intervals": lambda: experts_run(intervals=True).report(),
    "hostile experts": lambda: experts_run(names=(HOSTILE, "x" * 80)).report(),
    "many experts": lambda: experts_run(names=tuple(range(40))).report(),
    "race": lambda: race().report(),
    "race without certificates": lambda: race(certificates=False).report(),
    "game": game,
    "game without theorem": lambda: game(method="lp"),
}


@pytest.fixture(scope="module")
def made():
    """Each report, made once."""
    found = {}
    return lambda name: found[name] if name in found else found.setdefault(name, REPORTS[name]())


def words(html):
    """What people read: the text of the page's elements, without its style and pictures."""
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    for parent in list(tree.iter()):
        for child in list(parent):
            if child.tag in ("style", "{http://www.w3.org/2000/svg}svg"):
                parent.remove(child)
    return " ".join(" ".join(tree.itertext()).split())


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_valid_small_and_complete(made, name):
    text = made(name).html
    html5lib.HTMLParser(strict=True).parse(text)
    assert len(text.encode()) < 300_000
    assert "<script" not in text
    addresses = re.findall(r"https?://[^\s\"'<]+", text)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'(?:href="#|url\(#|aria-labelledby=")([\w.-]+)', text)) <= set(ids)


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_right_in_a_browser(browser, made, tmp_path, name, width, dark):
    seen = browser.look(made(name).save(tmp_path / "report.html"), width, dark)
    assert (seen.faults, seen.requests) == ([], [])


@pytest.mark.parametrize("name", ["record", "hostile", "experts", "game"])
def test_a_report_has_the_same_bytes_twice(made, name):
    assert REPORTS[name]().html == made(name).html


def test_a_report_has_the_three_numbers_the_certificate_and_how_to_get_it_again():
    record = run(learner=aw.Perceptron(rate=0.5))
    made = record.certificate()
    text = words(record.report(certificate=made).html)
    assert f"{record.mistakes} mistakes {record.error:.2%} of the rounds" in text
    assert f"≤ at most {int(made.bound)} mistakes" in text
    assert made.hindsight.description in text
    assert "Holds : what happened is within the bound" in text
    for each in (made, *made.others):
        assert each.theorem.citation in text
    for each in made.assumptions:
        assert each.statement in text
    assert "learner = aw.Perceptron(rate=0.5, labels=(-1, 1)) record = aw.play(learner, X, y)" in text
    assert f"Made by afterwit {aw.__version__}" in text


def test_a_picture_has_its_caption_and_its_table():
    record = run()
    picture = record.pictures()["error"]
    text = words(record.report().html)
    assert picture.title in text
    assert picture.caption in text
    assert " ".join(picture.table().heads) in text
    assert " ".join(picture.table().rows[-1]) in text


def test_hostile_names_are_shown_as_they_are(made):
    text = words(made("hostile").html)
    assert HOSTILE in text
    assert "labels ('<-1>', '<1>')" in text
    assert HOSTILE in words(made("hostile experts").html)


def test_a_theorem_that_does_not_apply_says_why(made):
    text = words(made("not applicable").html)
    assert "Bound none" in text
    assert "Not applicable : it is not" in text
    assert "✗ it is <so> no, observed on the data: it is not" in text
    assert "? you say so assumed, the caller's promise" in text


def test_a_violated_bound_cannot_be_missed(made):
    assert "✗ Violated : THIS IS A BUG IN AFTERWIT" in words(made("violated").html)


def test_without_a_certificate_there_is_what_happened_and_why(made):
    text = words(made("passes").html)
    assert "900 rounds" in text
    no_theorem = words(made("no theorem").html)
    assert "No certificate: " in no_theorem
    assert "Happened" in no_theorem
    assert "Bound" not in no_theorem


def test_a_race_has_its_leaderboard_the_certificate_of_the_winner_and_all_settings():
    made = race()
    text = words(made.report().html)
    assert made.result() in text
    for entry in made.entries:
        assert f"{entry.name} {type(entry.learner).__name__}; labels (-1, 1)" in text
    assert f"{made.winner.record.mistakes} mistakes {made.winner.error:.2%} of the rounds" in text
    heads, *rows = made.rows()
    assert " ".join([*heads, "bound", "hindsight", "verdict"]) in text
    for row in rows:
        assert " ".join(row[:3]) in text
    assert "No certificate: it was not asked for." in words(race(certificates=False).report().html)


def test_the_certificate_at_the_end_is_not_made_again(monkeypatch):
    record = run(100)
    given = record.certificate()
    asked = []
    certify = moments.Past.certificate
    monkeypatch.setattr(moments.Past, "certificate", lambda past: asked.append(past.rounds) or certify(past))
    record.report(certificate=given)
    assert asked == [1, 2, 4, 8, 16, 32, 64]
    # What was found is kept for all pictures.
    assert [each.rounds for each in record.moments()] == [1, 2, 4, 8, 16, 32, 64, 100]
    assert len(asked) == 7
    assert record.moments()[-1] is given


def test_the_bounds_over_time_end_where_there_is_too_much(monkeypatch):
    monkeypatch.setattr("afterwit.pictures._parts.MOMENT_VALUES", 60)
    record = run(100)
    record.report()
    assert [each.rounds for each in record.moments()] == [1, 2, 4, 8, 100]


def test_a_report_is_saved_whole_or_not_at_all(tmp_path):
    path = tmp_path / "report.html"
    report = run().report(path)
    assert path.read_text(encoding="utf-8") == report.html
    assert repr(report).startswith("<report: Perceptron, ")
    with pytest.raises(InputError, match=r"missing/report\.html: cannot be written"):
        report.save(tmp_path / "missing" / "report.html")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_report_in_a_notebook_has_a_frame_of_its_own(made):
    frame = made("record")._repr_html_()
    tree = html5lib.HTMLParser(strict=True).parseFragment(frame)
    (iframe,) = tree.findall("{http://www.w3.org/1999/xhtml}iframe")
    assert iframe.get("srcdoc") == made("record").html


def test_without_matplotlib_there_is_one_sentence(monkeypatch):
    record = run()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'afterwit\[plot\]'"):
        record.report()


class Wide(Picture):
    """As many bytes as one wants."""

    kind, title, caption = "wide", "A wide one", "Much of it."

    def __init__(self, bytes_wanted):
        self.bytes_wanted = bytes_wanted

    def svg(self, key="", size=None):
        return (
            f'<svg class="aw-picture" id="{key}" viewBox="0 0 9 9"><path d="M0 0h9{" " * self.bytes_wanted}"/></svg>\n'
        )

    def table(self):
        return Table(("a",), (("1",),))


def test_pictures_are_drawn_for_phones_as_long_as_there_is_room():
    text = _page.page("A page", [Part("x", pictures=[Wide(100_000), Wide(60_000), Wide(100)])])
    assert re.findall(r'<div class="(\w+)"><svg', text) == ["narrow", "wide", "wide", "wide"]
    assert re.findall(r'<div class="(\w+)"><svg', _page.page("", [Part("x", pictures=[Wide(9)])])) == ["narrow", "wide"]


def test_of_too_many_pictures_each_part_has_its_first_ones_and_every_table():
    parts = [Part(name, pictures=[Wide(50_000) for _ in range(4)]) for name in ("x", "y", "z")]
    text = _page.page("A page", parts)
    drawn = re.findall(r'<svg class="aw-picture" id="([^"]+)"', text)
    assert drawn == ["p0-0", "p0-1", "p1-0", "p1-1", "p2-0"]
    assert text.count("<figure>") == text.count("The numbers as a table") == 12
    assert text.count("Not drawn, so that this page stays small.") == 7
    assert len(text.encode()) < 300_000


def test_of_all_that_has_pictures_only_classes_and_boosting_have_no_part_of_their_own():
    assert set(HOMES) - set(_parts.MAKERS) == {"FiniteClass", "BoostingRecord"}


def test_every_picture_of_forecasts_is_drawn_for_phones(made):
    text = made("many experts").html
    assert text.count('<div class="narrow">') == text.count('<div class="wide">') > 5


def test_a_thing_of_another_kind_has_a_report_too():
    class Strange(Pictured):
        def __str__(self):
            return f"a strange thing {HOSTILE}\nof two lines"

    text = words(Strange().report().html)
    assert "Strange a strange thing" in text
    assert HOSTILE in text


def test_several_parts_have_headings_below_the_title():
    parts = [Part("One", "first", certificate()), Part("Two", "second", certificate())]
    root = html5lib.parse(_page.page("Both", parts, again="make both"), namespaceHTMLElements=False)
    heads = [(each.tag, each.text) for each in root.iter() if re.fullmatch(r"h\d", str(each.tag))]
    assert heads == [
        ("h1", "Both"),
        ("h2", "One"),
        ("h3", "Certificate"),
        ("h2", "Two"),
        ("h3", "Certificate"),
        ("h2", "Reproduce it"),
    ]


def test_long_tables_are_folded_after_a_dozen_rows():
    table = Table(("n", "square"), tuple((f"{n}", f"{n * n}") for n in range(20)))
    root = html5lib.parse(_page.page("", [Part("", tables={"Squares": table})]), namespaceHTMLElements=False)
    shown = [len(each.findall("tr")) for each in root.iter("tbody")]
    assert shown == [12, 8]
    assert [each.text for each in root.iter("summary")] == ["8 more"]


def test_svg_paths_are_the_same_places_in_fewer_bytes():
    picture = run(500).pictures()["error"]
    root = ElementTree.fromstring(picture.svg("a"))
    paths = [each.get("d") for each in root.iter() if each.tag.endswith("path")]
    assert any("l" in path for path in paths)
    assert not any("L" in path and "C" not in path for path in paths)
