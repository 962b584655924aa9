"""The heaviest features of the learner of a record, by name."""

from __future__ import annotations

from typing import Any

from afterwit.core.certificate import shown_number
from afterwit.core.heaviest import heaviest_features
from afterwit.errors import counted
from afterwit.pictures._bars import named_bars
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import BOUND, HAPPENED

#: How many features have a bar.
MOST = 20


def pictures(record: Any) -> list[Picture]:
    """The picture of a record whose learner has weights."""
    learner = None if record._played is None else record._played.learner
    found = heaviest_features(learner) if hasattr(learner, "rounds") else {}
    return [HeaviestFeatures(record.learner, found)] if any(found.values()) else []


class HeaviestFeatures(Picture):
    """The features with the largest weights, positive or negative.

    heaviest  features with their weights, of each class or part, the heaviest first
    """

    kind = "features"

    def __init__(self, learner: str, heaviest: dict[str, list[tuple[Any, float]]]) -> None:
        # Of each part only those that could be among the heaviest of all.
        named = [(_name(feature, part), weight) for part, pairs in heaviest.items() for feature, weight in pairs[:MOST]]
        self.shown = sorted(named, key=lambda pair: -abs(pair[1]))[:MOST]
        count = sum(map(len, heaviest.values()))
        self.title = f"Heaviest features, {learner}"
        of = "" if len(self.shown) == count else f" the {len(self.shown)} heaviest of"
        self.caption = f"The weights that the learner has now,{of} {counted(count, 'weight')} that {_are(count)} not 0."
        self.size = (7.2, 0.9 + 0.25 * len(self.shown))

    def draw(self, ax: Any) -> None:
        named_bars(ax, [(name, weight, HAPPENED if weight > 0 else BOUND) for name, weight in self.shown])
        ax.set_xlabel("weight")

    def table(self) -> Table:
        return Table(("feature", "weight"), tuple((name, shown_number(weight)) for name, weight in self.shown))


def _name(feature: Any, part: str) -> str:
    name = f"feature {feature}" if isinstance(feature, int) else str(feature)
    # The parts of a committee are one member's, and the caption of the picture is no place for its name.
    return f"{part.removeprefix('class ')}: {name}" if part.startswith("class ") else name


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
