"""Which columns of a table are the targets, the experts of each target, the group and the index."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from afterwit.cli._advice import Choice, choose_experts, index_columns, split_names
from afterwit.errors import StreamError, Words, invalid, shorten
from afterwit.streams.batch import UNNAMED
from afterwit.streams.table import Table, TableFile

#: What stands for the name of a target in the names of experts and of model files.
TARGET = "{target}"
HOW_TO_NAME = "name them with --experts, such as --experts 'model1_{target},model2_{target}' or --experts '*_{target}'"


@dataclass(frozen=True)
class Asked:
    """What the user says about columns."""

    targets: list[str]
    experts: list[str]
    exclude: list[str]
    index: list[str]
    group: str | None

    @classmethod
    def of(cls, target: str, experts: str | None, exclude: str | None, index: str | None, group: str | None) -> Asked:
        targets = split_names("--target", target)
        wanted = split_names("--experts", experts, targets)
        without = split_names("--exclude", exclude, targets)
        texts = split_names("--index", index, targets)
        if without and wanted and not any("*" in name for name in wanted):
            raise invalid("--exclude", "left out if --experts chooses the columns", exclude)
        if set(wanted) & set(texts):
            raise invalid("--index", "columns other than the experts", index)
        if group is not None and group in (*targets, *wanted, *without):
            raise invalid("--group", "a column other than the targets, the experts and --exclude", group)
        return cls(targets, wanted, without, texts, group)

    @property
    def several(self) -> bool:
        """Whether there is more than one target."""
        return len(self.targets) > 1

    @property
    def others(self) -> list[str]:
        """Columns that are not experts, whatever is in them."""
        grouped = [] if self.group is None else [self.group]
        return [*self.targets, *self.exclude, *self.index, *grouped]


@dataclass(frozen=True)
class Chosen:
    """What is to be read: the experts of each target, empty if they are chosen by what is in the columns."""

    experts: dict[str, list[str]]
    numbers: list[str]
    texts: list[str]


def choose_columns(opened: TableFile, asked: Asked, known: dict[str, list[str]]) -> Chosen:
    """What is to be read of a table; ``known`` has the experts of targets whose learners have been made before."""
    opened.require([*asked.targets, *asked.others])
    if known:
        experts = known
        opened.require([name for names in experts.values() for name in names])
        for target, names in known.items():
            wanted = _by_pattern(opened, asked, target)
            if wanted and set(wanted) != set(names):
                there = shorten(Words(", ".join(names)), 200)
                allowed = f"the experts of the model that goes on, {there}; or left out"
                raise invalid("--experts", allowed, Words(", ".join(wanted)))
    elif asked.experts:
        experts = {target: _by_pattern(opened, asked, target) for target in asked.targets}
    elif asked.several:
        experts = _by_name(opened, asked)
    else:
        experts = {target: [] for target in asked.targets}
    wanted = list(dict.fromkeys(name for names in experts.values() for name in names))
    if not wanted:
        wanted = [name for name in opened.numeric if name not in asked.others and not UNNAMED.fullmatch(name)]
        used = asked.targets
    else:
        used = [*asked.targets, *wanted]
    texts = index_columns(opened, [*used, *asked.exclude], asked.index)
    if asked.group is not None and asked.group not in texts:
        texts = [name for name in opened.header if name in (*texts, asked.group)]
    return Chosen(experts, [*asked.targets, *wanted], texts)


def experts_of(table: Table, chosen: Chosen, asked: Asked, target: str) -> list[str]:
    """The experts of a target; if nobody has named them, the columns whose values are near those of the target."""
    if chosen.experts[target]:
        return chosen.experts[target]
    choice = choose_experts(table, target, asked.others)
    if not choice.experts:
        others = f"; columns that are not numeric: {shorten(Words(', '.join(table.skipped)), 200)}"
        reason = f"no numeric column was found besides the target{others if table.skipped else ''}"
        raise StreamError(reason, path=table.name)
    choice.warn(target)
    return choice.experts


def _by_pattern(opened: TableFile, asked: Asked, target: str) -> list[str]:
    """The columns that --experts names for a target; * stands for anything, in the names of columns of numbers."""
    found: dict[str, None] = {}
    for pattern in asked.experts:
        wanted = pattern.replace(TARGET, target)
        if wanted in opened.header or "*" not in wanted:
            opened.require([wanted])
            names = [wanted]
        else:
            held = [name for name in opened.header if name in opened.numeric or name in opened.spoilt]
            names = [name for name in held if _matches(name, wanted) and name not in asked.others]
        if not names:
            known = shorten(Words(", ".join(opened.header)), 300)
            raise StreamError(f"no column of numbers is named {wanted}; the columns are {known}", path=opened.name)
        found |= dict.fromkeys(names)
    return list(found)


def _matches(name: str, pattern: str) -> bool:
    # Nothing but * has a meaning of its own.
    return fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]"))


def _by_name(opened: TableFile, asked: Asked) -> dict[str, list[str]]:
    """The columns named EXPERT_TARGET or TARGET_EXPERT. One that fits several targets is that of the longest."""
    experts: dict[str, list[str]] = {target: [] for target in asked.targets}
    spoilt = {name: found for name, found in opened.spoilt.items() if any(_fits(name, each) for each in asked.targets)}
    Choice([], [], [], {name: found for name, found in spoilt.items() if name not in asked.others}).warn()
    for name in opened.numeric:
        if name in asked.others:
            continue
        fitting = [each for each in asked.targets if _fits(name, each)]
        longest = [each for each in fitting if len(each) == max(map(len, fitting))]
        if len(longest) > 1:
            both = " and of ".join(longest)
            reason = f"the column {name} may be a forecast of {both}; {HOW_TO_NAME}"
            raise StreamError(reason, path=opened.name)
        for target in longest:
            experts[target].append(name)
    for target, names in experts.items():
        if not names:
            reason = f"no column of numbers is named EXPERT_{target} or {target}_EXPERT, as forecasts of {target}"
            raise StreamError(f"{reason}; {HOW_TO_NAME}", path=opened.name)
    return experts


def _fits(name: str, target: str) -> bool:
    begins, ends = name.startswith(f"{target}_"), name.endswith(f"_{target}")
    return (begins or ends) and len(name) > len(target) + 1


def path_of(option: str, path: str | None, asked: Asked, target: str) -> str | None:
    """The model file of a target: with several of them its name says which."""
    if path is None:
        return None
    if asked.several and TARGET not in path:
        allowed = f"a file name with {TARGET} in it, which stands for the name of each target: there are several"
        raise invalid(option, allowed, path)
    return path.replace(TARGET, target)
