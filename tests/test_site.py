"""The documentation site: it is built once, and then judged as readers would: page by page, link by link, in a browser."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import html5lib
import pytest

import afterwit as aw
from browser import DESKTOP, PHONE

pytestmark = pytest.mark.installed_only

ROOT = Path(__file__).resolve().parent.parent
#: What makes a browser load something: the element, and the attribute with its address.
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "use": "xlink:href"}
#: What the theme's own frame does on purpose: on a phone the panes of its drawer, which is shut, are to the right, out
#: of sight, and long titles fade out; tables scroll in a place that is as wide as the margins of the text.
FRAME = (
    "<div.md-sidebar",
    "<nav.md-nav>",
    "<label.md-nav__title>",
    "<div.md-header__",
    "<div.md-ellipsis>",
    "<span.md-ellipsis>",
    "<article.md-content__inner>",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, as `make docs` builds it: in strict mode, in which a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Every page as html5lib reads it, and the errors that it found.

    404.html is left out: only servers show it, and its addresses begin at their root.
    """
    parsed = {}
    for path in sorted(set(site.rglob("*.html")) - {site / "404.html"}):
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
        tree = parser.parse(path.read_text())
        parsed[path.relative_to(site).as_posix()] = tree, [f"{code} {data}" for _, code, data in parser.errors]
    return parsed


def test_every_page_of_docs_and_every_theorem_is_there(pages):
    sources = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")
    }
    assert sources <= set(pages)
    ids = {element.get("id") for element in pages["api/bounds.html"][0].iter()}
    assert {f"bound-{name}" for name in aw.bounds.BOUNDS} <= ids
    assert {f"sample-size-{name}" for name in aw.bounds.SAMPLE_SIZES} <= ids


def test_every_public_name_has_its_entry(pages):
    shown = "".join(
        "".join(each.itertext())
        for name, (tree, _) in pages.items()
        if name.startswith("api/")
        for each in tree.iter("article")
    )
    modules = (
        "adversaries",
        "batch",
        "boosting",
        "bounds",
        "concepts",
        "experts",
        "games",
        "hindsight",
        "kernels",
        "losses",
    )
    modules += ("portfolios", "sampling", "sklearn", "storage", "streams", "testing")
    public = [f"aw.{name}" for name in aw.__all__ if name not in aw._MODULES]
    public += [
        f"aw.{module}.{name}"
        for module in modules
        for name in getattr(aw, module).__all__
        if type(getattr(getattr(aw, module), name)) is not type(aw)
    ]
    assert [name for name in public if name not in shown] == []


def test_the_html_is_valid(pages):
    assert {name: errors for name, (_, errors) in pages.items() if errors} == {}


def test_ids_are_unique(pages):
    for name, (tree, _) in pages.items():
        ids = [element.get("id") for element in tree.iter() if element.get("id")]
        assert sorted({each for each in ids if ids.count(each) > 1}) == [], name


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site, pages):
    ids = {name: {element.get("id") for element in tree.iter()} for name, (tree, _) in pages.items()}
    broken, elsewhere = [], []
    for name, (tree, _) in pages.items():
        for element in tree.iter():
            loaded = element.get(LOADS.get(element.tag, ""))
            target = loaded or (element.get("href") if element.tag == "a" else None)
            if target is None or element.get("rel") == "canonical":
                continue
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                elsewhere += [f"{name}: {target}"] if loaded and parts.scheme != "data" else []
                continue
            path = (site / name).parent / unquote(parts.path) if parts.path else site / name
            there = os.path.relpath(path.resolve(), site)
            if not path.is_file() or (parts.fragment and there in ids and unquote(parts.fragment) not in ids[there]):
                broken.append(f"{name}: {target}")
    assert broken == []
    assert elsewhere == []


def test_every_page_is_reached_from_the_first(site, pages):
    reached, waiting = set(), ["index.html"]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in pages:
            continue
        reached.add(name)
        for link in pages[name][0].iter("a"):
            parts = urlsplit(link.get("href") or "")
            if parts.path and not parts.scheme:
                waiting.append(os.path.relpath(((site / name).parent / unquote(parts.path)).resolve(), site))
    assert set(pages) - reached == set()


def test_every_picture_has_its_drawing_and_its_table(pages):
    drawn = 0
    for name, (tree, _) in pages.items():
        for figure in (each for each in tree.iter("figure") if each.get("class") == "aw-figure"):
            drawn += 1
            assert [each.get("class") for each in figure.findall("div") if each[0].tag.endswith("svg")] == [
                "aw-narrow",
                "aw-wide",
            ], name
            assert "".join(figure.find("figcaption").itertext()).strip(), name
            assert len(list(figure.find("details").iter("tr"))) > 1, name
    asked = [
        line
        for path in (ROOT / "docs").rglob("*.md")
        for line in path.read_text().splitlines()
        if line.startswith("<!-- picture: ")
    ]
    assert drawn == len(asked) > 0


@pytest.mark.parametrize(
    ("page", "width", "dark"),
    [
        ("index.html", DESKTOP, False),
        ("index.html", PHONE, True),
        ("how-to/plots.html", PHONE, False),
        ("guides/forecasts.html", DESKTOP, True),
        ("coming-from/river.html", PHONE, True),
        ("api/experts.html", PHONE, False),
        ("gallery/index.html", PHONE, False),
        ("gallery/perceptron-hinge.html", DESKTOP, True),
        ("gallery/perturbed-leader.html", PHONE, True),
        ("gallery/fixed-share.html", PHONE, False),
        ("how-to/text.html", PHONE, True),
        ("course/06-experts.html", PHONE, True),
        ("api/concepts.html", PHONE, False),
        ("changelog.html", PHONE, False),
        ("data.html", DESKTOP, False),
        ("evidence.html", DESKTOP, True),
    ],
)
def test_pages_in_a_browser(site, browser, page, width, dark):
    faults = browser.look(site / page, width, dark).faults
    assert [fault for fault in faults if not fault.startswith(FRAME)] == []


def test_the_search_works_from_a_folder(site, browser):
    requests = []

    def listen(page):
        page.on("request", lambda request: requests.append(request.url))

    with browser.page(site / "index.html", listen=listen) as page:
        page.locator(".md-search__input").press_sequentially("perceptron")
        found = page.locator(".md-search-result__link h1")
        found.first.wait_for()
        assert "Linear learners" in found.all_inner_texts()
    assert [each for each in requests if not each.startswith("file:")] == []
