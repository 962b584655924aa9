"""What the tests of pictures share."""

from xml.etree import ElementTree

import matplotlib
from matplotlib import pyplot

matplotlib.use("Agg")

#: No picture takes more room in a page.
MOST_BYTES = 40_000


def drawn(picture):
    """The axes on which the picture was drawn, after all that must hold of every picture has been looked at."""
    text = picture.svg()
    root = ElementTree.fromstring(text)
    assert len(text) < MOST_BYTES
    places = [each.get("d", "") for each in root.iter() if each.tag.endswith("path")]
    assert any(len(place) > 8 for place in places)
    assert not any("n" in place for place in places), "a place that is no number"
    assert picture.title
    assert picture.caption.endswith(".")
    table = picture.table()
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.heads)}
    assert all(isinstance(cell, str) for row in table.rows for cell in row)
    shown = picture.plot()
    shown.figure_.canvas.draw()
    pyplot.close(shown.figure_)
    return shown.ax_


def texts(ax):
    return [each.get_text() for each in ax.texts]
