"""Imports point one way, files stay short, and algorithms see neither dense nor sparse rows."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from afterwit.core.registry import FAMILIES

ROOT = Path(__file__).resolve().parent.parent / "src" / "afterwit"

#: A room may import the rooms of the lines before its own and, as long as there is no cycle, those of its line.
LAYERS = (
    ("errors", "_start"),
    ("data",),
    ("core",),
    ("hindsight", "sampling", "streams"),
    ("linear", "experts", "kernels", "networks", "concepts", "games", "boosting", "portfolios"),
    ("reductions", "certify"),
    ("bounds", "batch", "races"),
    ("adversaries", "interop", "testing"),
    # Other names of modules, kept because they are public.
    ("losses", "sklearn", "storage"),
    # The outer rooms: what is inside finds pictures by their name.
    ("pictures",),
    ("serve", "client", "cluster"),
    ("cli", "__main__"),
)
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
LONGEST = 500


def files():
    return sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)


def room_of(module):
    """The package below afterwit that a module is in; None for afterwit itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def imports(tree):
    """Every module that is imported anywhere in a file, except for what only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.removeprefix("cython.cimports.")
            yield from (f"afterwit.{alias.name}" for alias in node.names) if module == "afterwit" else (module,)
        yield from imports(node)


def graph():
    """Room -> room -> the modules behind it."""
    found = defaultdict(lambda: defaultdict(set))
    for path in files():
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        for imported in imports(ast.parse(path.read_text())):
            here, there = room_of(module), room_of(imported)
            # afterwit itself is in no room: whoever imports a room imports it.
            if imported.partition(".")[0] == "afterwit" and here in LEVEL and there in LEVEL and here != there:
                found[here][there].add(f"{module} imports {imported}")
    return found


def test_every_room_has_its_place():
    rooms = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in files()} - {"__init__"}
    assert rooms <= set(LEVEL), "add the new room to LAYERS"


def test_imports_point_one_way():
    wrong = [
        line
        for here, others in graph().items()
        for there, lines in others.items()
        if LEVEL[there] > LEVEL[here]
        for line in lines
    ]
    assert sorted(wrong) == []


def test_there_is_no_cycle_between_rooms():
    found = {room: set(others) for room, others in graph().items()}
    reached = {room: _reached(room, found) for room in found}
    assert sorted(room for room in found if room in reached[room]) == []


def _reached(start, found):
    seen, waiting = set(), list(found[start])
    while waiting:
        room = waiting.pop()
        if room not in seen:
            seen.add(room)
            waiting += found.get(room, ())
    return seen


@pytest.mark.parametrize("room", ["core", "linear", "experts"])
def test_the_graph_sees_what_is_there(room):
    assert {"data", "errors"} <= set(graph()[room])


def test_families_do_not_import_their_checkers():
    """The code that checks is never the code that learned: a learner names its checker, and imports it by that name."""
    found = graph()
    assert [room for room in (*FAMILIES, "games") if "certify" in found[room]] == []


def test_files_are_short():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files()}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_algorithms_see_neither_dense_nor_sparse_rows():
    algorithms = [
        path for family in FAMILIES for path in sorted((ROOT / family).glob("*.py")) if not path.name.startswith("_")
    ]
    assert len(algorithms) > 40
    assert [path.name for path in algorithms if "_dense" in path.read_text()] == []


def test_only_evidence_makes_certificates():
    makers = [str(path.relative_to(ROOT)) for path in files() if "return Certificate(" in path.read_text()]
    assert makers == ["core/certificate.py"]


def test_whole_numbers_are_checked_in_one_place():
    checkers = [str(path.relative_to(ROOT)) for path in files() if "numbers import Integral" in path.read_text()]
    assert checkers == ["data/checks.py"]
