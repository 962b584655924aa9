"""The pages of the reference that are written from docstrings: every public name with its signature."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import afterwit as aw
from afterwit.core import registry
from docs.docstrings import first_sentence, markdown, prose

#: The families of learners, by the package they are in: the name of the page and its title.
FAMILIES = {
    "linear": "Linear learners",
    "reductions": "Learners made of learners",
    "experts": "Expert algorithms",
    "kernels": "Kernels and neighbours",
    "networks": "Networks",
    "concepts": "Finite classes and rules",
    "boosting": "Boosting",
    "portfolios": "Portfolios",
}
#: Other public modules, in the order in which they are read.
MODULES = {
    "streams": "Streams",
    "hindsight": "Hindsight",
    "adversaries": "Adversaries",
    "batch": "From online to batch",
    "sampling": "Theorems about samples",
    "bounds": "Theorems",
    "games": "Games",
    "losses": "Losses",
    "cluster": "Clusters",
    "sklearn": "scikit-learn",
    "storage": "Storage",
    "testing": "Conformance suites",
    "errors": "Errors",
}
#: What public values are.
VALUES = {
    "aw.EXPERT_ALGORITHMS": "The names of the expert algorithms.",
    "aw.LEARNERS": "The names of the learners of labels, and of those that choose among paths.",
    "aw.REGRESSORS": "The names of the learners that predict numbers.",
    "aw.compiled": "Whether the package runs as native code.",
    "aw.bounds.BOUNDS": "Every theorem whose bound can be evaluated, by name.",
    "aw.bounds.SAMPLE_SIZES": "Every theorem that says how many examples are needed, by name.",
    "aw.cluster.MIXINGS": "The ways to weigh shards in an average.",
    "aw.games.METHODS": "The methods of `solve_game`.",
    "aw.losses.NAMES": "The names of the losses of expert algorithms.",
    "aw.testing.SEED": "The seed of the conformance suites.",
}
#: What a learner has for the code around it, and not for its users.
INNER = {"update", "score", "dot", "add", "grow", "learn_row", "rate", "begin", "weigh", "observe_round"}


@dataclass
class Entry:
    """A public name: how it is written, what it is, and on which page it stands."""

    shown: str
    thing: Any
    page: str
    anchor: str
    also: list[str] = field(default_factory=list)


@dataclass
class Page:
    """One page of the reference."""

    title: str
    intro: str
    entries: list[Entry] = field(default_factory=list)


def pages() -> dict[str, str]:
    """The path of each page under docs/, and its Markdown."""
    found = _collected()
    written = {f"api/{name}.md": _page(page) for name, page in found.items()}
    written["api/bounds.md"] += "\n" + "\n\n".join(_theorems()) + "\n"
    return written


def titles() -> Iterator[tuple[str, str]]:
    """Title and path of each page, in order."""
    yield "Playing, reading, saving", "api/afterwit.md"
    for name, title in {**FAMILIES, **MODULES}.items():
        yield title, f"api/{name}.md"


def _collected() -> dict[str, Page]:
    """All public names, each on one page: a second way to write a name is added to the first."""
    found = {"afterwit": Page("Playing, reading, saving", "What `import afterwit as aw` has beside learners.")}
    for name, title in FAMILIES.items():
        intro = "Options, algorithm, guarantee and an example of each. [Learners](../learners.md) helps to choose, and"
        found[name] = Page(title, f"{intro} [Reference](../reference.md) has what they share.")
    for name, title in MODULES.items():
        found[name] = Page(title, markdown(_module(name).__doc__ or ""))
    known: dict[int, Entry] = {}
    for page, shown, thing in _public():
        if callable(thing) and id(thing) in known:
            known[id(thing)].also.append(shown)
            continue
        anchor = shown.removeprefix("aw.").replace(".", "-").lower()
        # Names may differ in capitals alone, as a function and what it returns do.
        anchor += "-2" if any(entry.anchor == anchor for entry in known.values()) else ""
        entry = Entry(shown, thing, page, anchor)
        known[id(thing)] = entry
        found[page].entries.append(entry)
    return found


def _public() -> Iterator[tuple[str, str, Any]]:
    """Every public name: its page, how it is written, and what it is."""
    kinds = registry.classes(*registry.ROLES)
    for name, kind in kinds.items():
        yield kind.__module__.split(".")[1], f"aw.{name}", kind
    for name in aw.__all__:
        thing = getattr(aw, name)
        if name not in kinds and not inspect.ismodule(thing):
            yield ("errors" if name == "AfterwitError" else "afterwit"), f"aw.{name}", thing
    for module in ("sampling", *FAMILIES, *MODULES):
        package = _module(module)
        for name in getattr(package, "__all__", ()):
            if not inspect.ismodule(getattr(package, name)):
                yield module, f"aw.{module}.{name}", getattr(package, name)
    for name, thing in vars(aw.errors).items():
        if inspect.isclass(thing) and issubclass(thing, Exception):
            yield "errors", f"aw.errors.{name}", thing


def _module(name: str) -> Any:
    return importlib.import_module(f"afterwit.{name}")


def _page(page: Page) -> str:
    parts = [f"# {page.title}", page.intro]
    parts += [_entry(entry) for entry in sorted(page.entries, key=lambda entry: entry.shown.lower())]
    return "\n\n".join(parts) + "\n"


def _entry(entry: Entry) -> str:
    thing = entry.thing
    heading = f"## `{entry.shown.rpartition('.')[2]}` {{ #{entry.anchor} }}"
    if not callable(thing):
        written = f"{entry.shown}: bool" if isinstance(thing, bool) else f"{entry.shown}\n{_value(thing)}"
        return f"{heading}\n\n{VALUES[entry.shown]}\n\n```py\n{written}\n```"
    learner = hasattr(thing, "options") and hasattr(thing, "theorems")
    parts = [heading, _signature(entry)]
    if entry.also:
        parts.append(f"Also {', '.join(f'`{each}`' for each in entry.also)}.")
    parts.append(markdown(thing.__doc__ or ""))
    around = sys.modules[thing.__module__].__doc__ or ""
    if learner:
        parts.append(markdown(around))
    elif ">>>" not in (thing.__doc__ or "") and thing.__name__ in (example := _example(around)):
        parts.append(example)
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        parts += _members(thing, learner)
    if learner and isinstance(thing.theorems, tuple) and thing.theorems:
        parts += ["**Theorems**", "\n".join(f"- {_theorem_line(each)}" for each in thing.theorems)]
    elif learner and isinstance(getattr(thing, "no_theorem_because", None), str) and thing.no_theorem_because:
        parts.append(f"No theorem: {prose(thing.no_theorem_because)}.")
    return "\n\n".join(parts)


def _example(doc: str) -> str:
    """The example of a module, which often shows the only thing in it."""
    found = re.search(r"^```pycon\n.*?^```$", markdown(doc), re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def _signature(entry: Entry) -> str:
    """How it is called, one parameter a line where that is long."""
    try:
        signature = inspect.signature(entry.thing)
    except (TypeError, ValueError):
        return f"```py\n{entry.shown}\n```"
    given = list(_parameters(signature))
    returned = str(signature.return_annotation).strip("'")
    returned = "" if signature.return_annotation is inspect.Signature.empty or returned == "None" else f" -> {returned}"
    line = f"{entry.shown}({', '.join(given)}){returned}"
    if len(line) > 88:
        line = f"{entry.shown}(\n" + "".join(f"    {each},\n" for each in given) + f"){returned}"
    return f"```py\n{line}\n```"


def _value(thing: Any) -> str:
    """A public value, as Python shows it; of a table its names."""
    shown = tuple(thing) if isinstance(thing, Mapping) else thing
    return textwrap.fill(repr(shown), 88, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False)


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """The parameters as they are written, without ``Any``, and with the star after which they have to be named."""
    kinds = [each.kind for each in signature.parameters.values()]
    for place, each in enumerate(signature.parameters.values()):
        if (
            each.kind is each.KEYWORD_ONLY
            and kinds.index(each.KEYWORD_ONLY) == place
            and each.VAR_POSITIONAL not in kinds
        ):
            yield "*"
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        said = str(each.annotation).strip("'")
        typed = "" if each.annotation is each.empty or said == "Any" else f": {said}"
        default = "..." if "<" in repr(each.default) else repr(each.default)
        equals = "" if each.default is each.empty else f" = {default}" if typed else f"={default}"
        yield f"{stars}{each.name}{typed}{equals}"


def _members(thing: type, learner: bool) -> list[str]:
    """The public methods and attributes with a docstring: of a learner those that it does not share."""
    rows = []
    owners = [thing] if learner else [each for each in thing.__mro__ if each.__module__.startswith("afterwit")]
    seen = set(INNER) if learner else set()
    for owner in owners:
        for name, value in vars(owner).items():
            described = inspect.getdoc(value) if _described(value) else None
            if not name.startswith("_") and name not in seen and described:
                seen.add(name)
                called = escape(f"{name}{_arguments(getattr(thing, name))}")
                rows.append(f"<dt><code>{called}</code></dt><dd>{first_sentence(described)}</dd>")
    if not rows:
        return []
    return ["**Methods and attributes**", '<dl class="aw-terms">\n' + "\n".join(rows) + "\n</dl>"]


def _arguments(method: Any) -> str:
    """What a method is called with, names and defaults alone; nothing for an attribute."""
    if not callable(method):
        return ""
    try:
        signature = inspect.signature(method)
    except (TypeError, ValueError):
        return "(...)"
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values() if each.name != "self"]
    return f"({', '.join(_parameters(signature.replace(parameters=plain)))})"


def _described(value: Any) -> bool:
    """Whether its docstring is about it, and not about the type of a plain value."""
    return (
        callable(value) or isinstance(value, property | classmethod | staticmethod) or inspect.isdatadescriptor(value)
    )


def _theorem_line(theorem: Any) -> str:
    name = prose(theorem.name)
    if aw.bounds.BOUNDS.get(theorem.id):
        name = f"[{name}](bounds.md#bound-{theorem.id})"
    return f"{name}: {prose(theorem.statement)} ({prose(theorem.citation)})"


def _theorems() -> Iterator[str]:
    """Every theorem whose formula can be evaluated, by its name on the command line."""
    for asked, theorems in (("bound", aw.bounds.BOUNDS), ("sample-size", aw.bounds.SAMPLE_SIZES)):
        yield f"## The theorems: `afterwit {asked} NAME`"
        for name, theorem in sorted(theorems.items()):
            yield f"### `{name}` {{ #{asked}-{name} }}"
            yield f"**{prose(theorem.name)}** ({prose(theorem.citation)})"
            yield f"```text\n{theorem.inequality}\n```"
            yield markdown(type(theorem).__doc__ or "")
            given = [(f"{each.name} ({each.symbol})", each.meaning) for each in theorem.inputs]
            rows = "".join(f"<dt><code>{escape(name)}</code></dt><dd>{escape(said)}</dd>\n" for name, said in given)
            yield f'<dl class="aw-terms">\n{rows}</dl>'
            if theorem.needs:
                yield f"Needs: {prose(theorem.needs)}."
