"""The files that the page is made of."""

import hashlib
import re
from importlib.metadata import files as recorded_files
from importlib.resources import files
from pathlib import Path

import pytest

from afterwit.pictures._page import style_of_colours
from afterwit.serve.assets import assets

UPLOT = files("afterwit").joinpath("vendor", "uplot")


def test_uplot_is_as_it_was_released():
    listed = dict(reversed(line.split()) for line in UPLOT.joinpath("SHA256SUMS").read_text().splitlines())
    found = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in UPLOT.iterdir()}
    assert found.pop("SHA256SUMS")
    assert found == listed
    assert {"LICENSE", "uPlot.iife.min.js", "uPlot.min.css"} == set(listed)
    # What npm has as uplot 1.6.32.
    assert listed["uPlot.iife.min.js"] == "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"
    assert "Leon Sorokin" in UPLOT.joinpath("LICENSE").read_text()


@pytest.mark.installed_only
def test_a_wheel_has_all_of_them():
    """The package is installed from a wheel, whose list of files says what it brought."""
    recorded = {str(each) for each in recorded_files("afterwit")}
    page = Path(__file__).parents[2] / "src" / "afterwit" / "serve" / "page"
    expected = {f"afterwit/serve/page/{each.name}" for each in page.iterdir()}
    expected |= {f"afterwit/vendor/uplot/{each.name}" for each in UPLOT.iterdir()}
    assert len(expected) > 10
    assert expected <= recorded


def test_the_page_has_the_style_of_reports():
    found = assets()
    assert found["static/colours.css"].content.decode() == style_of_colours()
    assert found["static/report.css"].content == files("afterwit.pictures").joinpath("_page.css").read_bytes()


def test_every_file_that_is_asked_for_is_there():
    found = assets()
    text = found[""].content.decode()
    asked = set(re.findall(r'(?:href|src)="(static/[^"]+)"', text))
    for name, asset in found.items():
        if name.endswith(".js"):
            asked |= {f"static/{each}" for each in re.findall(r'from "\./([^"]+)"', asset.content.decode())}
    assert asked | {""} == set(found)


def test_nothing_needs_a_policy_that_is_weaker():
    """No script, style or handler inside the page, and nothing from another host."""
    text = assets()[""].content.decode()
    for forbidden in ("<style", "style=", "<script>", " onclick", " onload", "http:", "https:", "//"):
        assert forbidden not in text, forbidden
    for name, asset in assets().items():
        if name.endswith(".js") and "uPlot" not in name:
            script = asset.content.decode()
            for forbidden in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "eval(",
                "document.write",
                "localStorage",
            ):
                assert forbidden not in script, (name, forbidden)
            assert script.count("\n") < 500
