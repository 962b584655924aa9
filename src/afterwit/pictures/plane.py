"""Examples with two features and the learner's boundary between the classes; with one, a regressor's line."""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.data.rows import Rows
from afterwit.errors import AfterwitError, counted
from afterwit.hindsight.max_margin import max_margin
from afterwit.linear._engine import LinearLearner
from afterwit.pictures._bars import WIDTH, short
from afterwit.pictures._examples import Examples, Floats, read_again
from afterwit.pictures._labels import legend_below
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import BOUND, HAPPENED, HINDSIGHT, INK, LINES, SERIES

#: So many examples are drawn, and so many classes.
MOST_POINTS, MOST_CLASSES = 600, 6
#: Scores are computed on a grid of so many places a side.
GRID = 61
#: The best separator is looked for among at most so many examples.
MOST_SEPARATED = 5_000
#: What the examples of a class look like: corners around the place, in parts of the size.
SHAPES = (
    ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    ((-1.2, -1), (1.2, -1), (0, 1.4)),
    ((0, -1.5), (1.5, 0), (0, 1.5), (-1.5, 0)),
    ((-1.2, 1), (1.2, 1), (0, -1.4)),
    ((-1.6, -0.5), (1.6, -0.5), (1.6, 0.5), (-1.6, 0.5)),
    ((-0.5, -1.6), (0.5, -1.6), (0.5, 1.6), (-0.5, 1.6)),
)
#: Half the width of such a shape, as a part of the picture's width.
SIZE = 0.0045


def pictures(record: Any) -> list[Picture]:
    """The picture of a record of examples with two features, or with one and a target."""
    if hasattr(record, "rmse"):
        examples = read_again(record._played, 1)
        return [] if examples is None else [FittedLine(record, examples)]
    examples = read_again(record._played, 2)
    if examples is None or not hasattr(record._played.learner, "score_many"):
        return []
    return [Plane(record, examples)] if len(set(examples.labels)) <= MOST_CLASSES else []


class Plane(Picture):
    """The examples, where the learner's prediction changes, and the separator of largest margin where there is one."""

    kind = "plane"
    size = (7.2, 5.0)

    def __init__(self, record: Any, examples: Examples) -> None:
        self.learner = record._played.learner
        self.examples = examples
        self.classes = sorted(set(examples.labels), key=str)
        self.two_sided = isinstance(self.learner, LinearLearner) and len(self.classes) == 2
        every = self.two_sided and len(examples.labels) == record.rounds <= MOST_SEPARATED
        self.best = _best_separator(self.learner, examples) if every else None
        #: The score of the example that is nearest to the boundary of a linear learner; 0 unless all are on their side.
        self.nearest = _least_score(self.learner, examples) if self.two_sided else 0.0
        self.shown = _sample(len(examples.labels))
        self.title = f"The boundary of {record.learner} between the classes"
        self.caption = (
            f"{counted(len(self.shown), 'example')} of {record.rounds:,}, and where the prediction of the learner, as "
            f"it is now, changes."
        )
        if self.nearest:
            self.caption += " It separates them: the thin lines are its margin."
        if self.best is not None:
            self.caption += f" The separator of largest margin, {self.best.margin:.4g}, was found afterwards."

    def draw(self, ax: Any) -> None:
        table = self.examples.table
        low, high = _limits(table)
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        labels = np.array([self.classes.index(label) for label in self.examples.labels])[self.shown]
        looks = [(short(str(label)), SERIES[k][0], SHAPES[k]) for k, label in enumerate(self.classes)]
        for k, (_, colour, shape) in enumerate(looks):
            _mark(ax, table[self.shown][labels == k], shape, colour)
        drawn = set()
        for scores, look in self._boundaries(low, high):
            x, y = (np.linspace(low[k], high[k], GRID) for k in (0, 1))
            if scores.min() < 0 < scores.max():
                ax.contour(x, y, scores, levels=[0.0], **look)
                drawn.add(look["colors"])
        names = self.examples.names
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        lines = {"boundary": {"color": INK}, "hindsight": {"color": HINDSIGHT, "linestyle": ":"}}
        _legend(ax, looks, {name: look for name, look in lines.items() if look["color"] in drawn})

    def _boundaries(self, low: Floats, high: Floats) -> Any:
        """Numbers on the grid that are 0 on the boundaries, and how these are drawn."""
        grid = _grid(low, high)
        look = {"colors": INK, "linewidths": 2.0}
        for scores in _margins(self.learner, self.examples.at(grid)):
            yield scores.reshape(GRID, GRID), look
            for side in (-1, 1) if self.nearest else ():
                yield scores.reshape(GRID, GRID) + side * self.nearest, look | {"linewidths": 0.8}
        if self.best is not None:
            weights = np.asarray(self.best.vector)
            scores = (grid @ weights[:2] + sum(weights[2:])).reshape(GRID, GRID)
            length, margin = float(np.linalg.norm(weights)), self.best.margin
            yield scores, {"colors": HINDSIGHT, "linewidths": 2.0, "linestyles": [(0, (1, 1.4))]}
            for side in (-1, 1):
                edge = scores / length + side * margin
                yield edge, {"colors": HINDSIGHT, "linewidths": 1.0, "linestyles": [(0, (1, 1.4))]}

    def table(self) -> Table:
        labels = np.array([self.classes.index(label) for label in self.examples.labels])
        rows = []
        for k, label in enumerate(self.classes):
            here = self.examples.table[labels == k]
            means = (f"{value:.4g}" for value in here.mean(axis=0))
            rows.append((str(label), f"{len(here):,}", *means))
        return Table(("class", "examples", *(f"mean of {name}" for name in self.examples.names)), tuple(rows))


class FittedLine(Picture):
    """Targets over the only feature, and what the regressor predicts now."""

    kind = "fit"

    def __init__(self, record: Any, examples: Examples) -> None:
        self.learner = record._played.learner
        self.examples = examples
        self.targets = np.array(examples.labels, dtype=np.float64)
        self.shown = _sample(len(self.targets))
        self.title = f"The predictions of {record.learner} over the feature"
        self.caption = (
            f"{counted(len(self.shown), 'target')} of {record.rounds:,}, and what the learner, as it is now, predicts."
        )

    def _line(self) -> tuple[Floats, Floats]:
        low, high = _limits(self.examples.table)
        places = np.linspace(low[0], high[0], GRID)
        predicted = self.learner.predict_many(self.examples.at(places[:, np.newaxis]))
        return places, np.asarray(predicted, dtype=np.float64)

    def draw(self, ax: Any) -> None:
        points = np.column_stack([self.examples.table[:, 0], self.targets])
        low, high = _limits(points)
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        _mark(ax, points[self.shown], SHAPES[0], HAPPENED)
        ax.plot(*self._line(), **{**LINES["bound"], "linestyle": "-"})
        ax.set_xlabel(self.examples.names[0])
        ax.set_ylabel("target")
        _legend(ax, [("target", HAPPENED, SHAPES[0])], {"prediction": {"color": BOUND}})

    def table(self) -> Table:
        places, predicted = self._line()
        rows = [(f"{x:.4g}", f"{y:.4g}") for x, y in zip(places[::6], predicted[::6], strict=True)]
        return Table((self.examples.names[0], "prediction"), tuple(rows))


def _sample(count: int) -> Any:
    """Which examples are drawn: always the same."""
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, MOST_POINTS, replace=False))


def _limits(table: Floats) -> tuple[Floats, Floats]:
    """What the axes show: all examples and a little more."""
    low, high = table.min(axis=0), table.max(axis=0)
    beyond = 0.05 * high - 0.05 * low
    beyond = np.where(beyond > 0, beyond, 1.5 * np.abs(high) + (high == 0))
    return low - beyond, high + beyond


def _grid(low: Floats, high: Floats) -> Floats:
    across, along = np.meshgrid(*(np.linspace(low[k], high[k], GRID) for k in (0, 1)))
    return np.column_stack([across.ravel(), along.ravel()])


def _margins(learner: Any, examples: Rows) -> list[Floats]:
    """Functions that are 0 where the prediction changes: the score, or of many classes by how much each is ahead."""
    try:
        scores = np.asarray(learner.score_many(examples), dtype=np.float64)
    except AfterwitError:
        # Places at which the learner takes no examples, such as negative ones.
        return []
    if scores.ndim == 1:
        return [scores]
    if scores.shape[1] < 2:
        return []
    if scores.shape[1] == 2:
        return [scores[:, 1] - scores[:, 0]]
    return [each - np.delete(scores, k, axis=1).max(axis=1) for k, each in enumerate(scores.T)]


def _least_score(learner: Any, examples: Examples) -> float:
    """The least of the scores, each with the sign of the right label, if it is above 0."""
    signs = np.where(np.array(examples.labels) == learner.labels[1], 1.0, -1.0)
    return max(0.0, float((signs * learner.score_many(examples.rows)).min()))


def _best_separator(learner: Any, examples: Examples) -> Any:
    """The separator of largest margin by weights such as the learner has."""
    table = examples.table
    if getattr(learner, "intercept", False):
        table = np.column_stack([table, np.ones(len(table))])
    try:
        return max_margin(table, np.array(examples.labels), labels=learner.labels)
    except AfterwitError:
        return None


def _mark(ax: Any, points: Floats, shape: Any, colour: str) -> None:
    """A shape at each place, all in one path: short in a page. The limits of the axes must be final."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    if not len(points):
        return
    width, height = ax.figure.get_size_inches()
    across = SIZE * abs(np.subtract(*ax.get_xlim()))
    along = SIZE * abs(np.subtract(*ax.get_ylim())) * width / height
    corners = np.array([*shape, shape[0]], dtype=np.float64) * (across, along)
    codes = [Path.MOVETO, *[Path.LINETO] * (len(shape) - 1), Path.CLOSEPOLY]
    path = Path((points[:, np.newaxis, :] + corners).reshape(-1, 2), codes * len(points))
    ax.add_patch(PathPatch(path, facecolor=colour, alpha=0.6, linewidth=0))


def _legend(ax: Any, classes: Any, lines: dict[str, dict[str, Any]]) -> None:
    from matplotlib.lines import Line2D

    markers = ("s", "^", "D", "v", "_", "|")
    handles = [
        Line2D([], [], color=colour, marker=markers[SHAPES.index(shape)], linestyle="None", label=label)
        for label, colour, shape in classes
    ]
    handles += [Line2D([], [], label=name, **look) for name, look in lines.items()]
    narrow = ax.figure.get_size_inches()[0] < WIDTH
    legend_below(ax, columns=2 if narrow else 4, handles=handles, handlelength=1.4)
