"""The browser of the tests notices what it is there to notice."""

import pytest

from browser import DESKTOP, PHONE

GOOD = """<p>Some text.</p><div style="overflow-x: auto"><table><tr><td style="white-space: nowrap">a table that is as wide as it wants to be,
because it scrolls</td></tr></table></div><svg viewBox="0 0 100 50" width="100"><title>Good</title><path d="M0 0L50 50" stroke="red"/>
<text x="5" y="20">a</text><text x="5" y="45">b</text></svg><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="">"""


@pytest.fixture
def look(browser, tmp_path):
    def look(body, **how):
        path = tmp_path / "page.html"
        head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A page</title>'
        path.write_text(f"{head}<body>{body}")
        return browser.look(path, **how)

    return look


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True])
def test_a_good_page_has_no_faults(look, width, dark):
    seen = look(GOOD, width=width, dark=dark)
    assert (seen.faults, seen.requests) == ([], [])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<script>missing()</script>", ["script: missing is not defined"]),
        ("<script>console.error('so it is')</script>", ["console: so it is"]),
        ("<div style='width: 2000px'>wide</div>", ["the page is 2008 pixels wide on a screen of 1280"]),
        (
            "<div style='width: 50px; overflow: hidden; white-space: nowrap'>longer than its place</div>",
            ["<div> is 140 pixels wide in a place of 50"],
        ),
        ("<div style='height: 10px; overflow: hidden'>one<br>two</div>", ["<div> is cut below"]),
        (
            "<details><summary>x</summary><p style='width: 5px'>unfolded</p></details>",
            ["<p> is 60 pixels wide in a place of 5"],
        ),
        ("<svg viewBox='0 0 9 9' width='90'><title>None</title></svg>", ['the picture "None" is empty']),
        (
            "<svg viewBox='0 0 9 9' width='90'><title>N</title><path d='M0 0' stroke='red'/></svg>",
            ['the picture "N" is empty'],
        ),
        (
            "<svg viewBox='0 0 100 100' width='100'><title>T</title><text x='90' y='50'>out</text></svg>",
            ['in the picture "T", "out" leaves the frame'],
        ),
        (
            "<svg viewBox='0 0 100 100' width='100'><title>T</title><text y='50'>one</text><text y='54'>two</text></svg>",
            ['in the picture "T", "one" covers "two"'],
        ),
    ],
)
def test_each_fault_is_found(look, body, expected):
    found = look(body).faults
    starts = [line for line in found if any(_alike(line, each) for each in expected)]
    assert starts == found
    assert len(found) == len(expected)


def _alike(line, expected):
    """The same but for widths of letters, which differ between machines."""
    wide, _, place = expected.partition(" pixels wide in ")
    return (
        line.startswith(wide.rstrip("0123456789")) and f" pixels wide in {place}" in line
        if place
        else line.startswith(expected)
    )


def test_requests_are_listed_and_nothing_leaves(look, tmp_path):
    (tmp_path / "own.css").write_text("p { color: red }")
    seen = look('<link rel="stylesheet" href="own.css"><img src="https://example.org/a.png" alt="">')
    assert [each.rpartition("/")[2] for each in seen.requests] == ["own.css", "a.png"]
    assert seen.leaving == ["https://example.org/a.png"]
    assert "failed: https://example.org/a.png" in seen.errors


def test_a_picture_of_the_page(look, tmp_path):
    look(GOOD, screenshot=tmp_path / "page.png", pdf=tmp_path / "page.pdf")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
