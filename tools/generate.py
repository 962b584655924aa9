"""Write what follows from other sources: types of public names, tables of learners in the reference, notebooks.

    python tools/generate.py            write src/afterwit/__init__.pyi, docs/reference.md and docs/course/notebooks/
    python tools/generate.py --check    write nothing; exit 1 if one of them is not up to date

A table of learners is marked by a comment that says what it lists: a role, and families. The script writes the
signatures in its first column and adds learners that are missing; the second column is yours.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import afterwit
from afterwit.core import registry
from docs import notebooks

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "src" / "afterwit" / "__init__.pyi"
REFERENCE = ROOT / "docs" / "reference.md"

TABLE = re.compile(r"(<!-- table: (?P<role>\w+) of (?P<families>[a-z ]+) -->\n)(?P<rows>.*?)<!-- end -->", re.DOTALL)
ROW = re.compile(r"\| `aw\.(?P<name>\w+)\([^`]*\)` \|(?P<rest>.*)")
#: What most learners take with these defaults; the text around a table says so.
USUAL = {"intercept": False, "labels": None}


def public_stub() -> str:
    """Every public name with its real import, and the options of every learner, for editors and type checkers."""
    kinds = registry.classes(*registry.ROLES)
    imports = [(f"afterwit.{home}", name, name) for name, home in afterwit._HOMES.items()]
    imports += [(kind.__module__, name, f"_{name}") for name, kind in kinds.items()]
    lines = ["# Written by tools/generate.py: every public name, where it is, and what learners are made with.", ""]
    lines += ["from typing import Any", ""]
    lines += [f"from afterwit import {name} as {name}" for name in sorted(afterwit._MODULES)]
    lines += [f"from {home} import {name} as {known_as}" for home, name, known_as in sorted(imports)]
    for name, kind in kinds.items():
        options = "".join(f", {_typed(option)}" for option in kind.__signature__.parameters.values())
        lines += ["", f"class {name}(_{name}):", f"    def __init__(self{options}) -> None: ..."]
    lines += [
        "",
        "__version__: str",
        "compiled: bool",
        "EXPERT_ALGORITHMS: tuple[str, ...]",
        "LEARNERS: tuple[str, ...]",
        "REGRESSORS: tuple[str, ...]",
    ]
    names = sorted(afterwit.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    lines += ["__all__ = [", *(f'    "{name}",' for name in names), "]", ""]
    return "\n".join(lines)


def _typed(option: Any) -> str:
    if option.default is registry.REQUIRED:
        return f"{option.name}: Any"
    plain = option.default is None or isinstance(option.default, str | int | float | tuple)
    return f"{option.name}: Any = {_shown(option.default) if plain else '...'}"


def reference() -> str:
    """The reference with its tables of learners filled in."""
    return TABLE.sub(_table, REFERENCE.read_text())


def _table(found: re.Match[str]) -> str:
    families = found["families"].split()
    kinds = {
        name: kind
        for name, kind in registry.classes(found["role"]).items()
        if kind.__module__.split(".")[1] in families
    }
    rows = []
    for line in found["rows"].splitlines():
        row = ROW.fullmatch(line)
        if row is None:
            rows.append(line)
        elif row["name"] in kinds:
            rows.append(f"| `{_signature(kinds.pop(row['name']))}` |{row['rest']}")
    rows += [f"| `{_signature(kind)}` | {_first_line(kind)} |" for kind in kinds.values()]
    return "\n".join([found[1].rstrip(), *rows, "<!-- end -->"])


def _signature(kind: Any) -> str:
    options = [
        option.name if option.default is registry.REQUIRED else f"{option.name}={_shown(option.default)}"
        for option in kind.__signature__.parameters.values()
        if option.name not in USUAL or USUAL[option.name] != option.default
    ]
    return f"aw.{kind.__name__}({', '.join(options)})"


def _shown(default: Any) -> str:
    """A default as people write it."""
    if isinstance(default, str):
        return json.dumps(default)
    if isinstance(default, tuple):
        inner = ", ".join(f"{each:g}" if isinstance(each, float) else _shown(each) for each in default)
        return f"({inner},)" if len(default) == 1 else f"({inner})"
    if isinstance(default, int) and not isinstance(default, bool) and default >= 10_000:
        return f"{default:_}"
    return repr(default).replace("e-0", "e-")


def _first_line(kind: Any) -> str:
    """The first sentence of the docstring, in a cell of a table."""
    return (kind.__doc__ or "").strip().partition("\n")[0].rstrip(".").replace("|", "\\|")


def course() -> dict[Path, Callable[[], str]]:
    """The notebook of every chapter of the course, and what makes it."""
    return {notebooks.notebook_path(page): partial(notebooks.notebook, page) for page in notebooks.pages()}


WRITTEN = {STUB: public_stub, REFERENCE: reference, **course()}


def main(check: bool) -> int:
    stale = [path for path, content in WRITTEN.items() if not path.exists() or path.read_text() != content()]
    for path in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is not up to date: run make generate")
        else:
            path.write_text(WRITTEN[path]())
            print(f"wrote {path.relative_to(ROOT)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
