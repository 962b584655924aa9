"""Modules that index memory with numbers from files, compiled with the address sanitizer in a copy of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import afterwit

#: Parsers, and the loops over arrays that `load` has restored.
MODULES = (
    "streams._numbers",
    "streams._libsvm",
    "streams._names",
    "streams._vw",
    "streams._csv_cells",
    "streams._csv_text",
    "linear._row",
    "linear._engine",
    "linear._paired",
    "linear.voted_perceptron",
    "kernels._kept_rows",
    "kernels._support",
)
SHARED = "afterwit._cyutility"
FLAGS = ("-O1", "-g", "-w", "-ffp-contract=off", "-fno-math-errno", "-fno-omit-frame-pointer", "-fsanitize=address")

BUILD = """
import sys
from Cython.Build import cythonize
from setuptools import Distribution, Extension
names, flags = sys.argv[1].split(","), sys.argv[2].split(",")
extensions = [
    Extension(f"afterwit.{name}", [f"afterwit/{name.replace('.', '/')}.py"], extra_compile_args=flags,
              extra_link_args=["-fsanitize=address"])
    for name in names
]
extensions = cythonize(extensions, build_dir="build", shared_utility_qualified_name=sys.argv[3], quiet=True,
                       compiler_directives={"language_level": 3, "show_performance_hints": False})
command = Distribution({"ext_modules": extensions, "packages": []}).get_command_obj("build_ext")
command.inplace, command.parallel, command.build_temp = True, 2, "build"
command.ensure_finalized()
command.run()
"""


def sanitized(folder: Path) -> tuple[dict[str, str] | None, str]:
    """The environment in which targets run with the sanitizer, if there is one, and a line that says so."""
    if not afterwit.compiled:
        return None, "without the address sanitizer: the package is not compiled"
    try:
        library = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
        if not os.path.isabs(library):
            return None, "without the address sanitizer: gcc has no libasan"
        _build(folder)
    except (OSError, subprocess.CalledProcessError) as error:
        words = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        return None, f"without the address sanitizer: it cannot be built ({words})"
    environment: dict[str, Any] = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_abort=1",
    }
    tried = subprocess.run(
        [sys.executable, "-c", "import afterwit.streams._libsvm as m; print(m.__file__)"],
        capture_output=True,
        text=True,
        env=environment,
    )
    if tried.returncode or not tried.stdout.startswith(str(folder)):
        return None, "without the address sanitizer: a module that was built with it cannot be imported"
    return environment, f"with the address sanitizer: {', '.join(MODULES)}"


def _build(folder: Path) -> None:
    """A copy of the installed package, with these modules compiled again; nothing is done if nothing has changed."""
    source = Path(afterwit.__file__).parent
    stamp = folder / "stamp"
    newest = max(path.stat().st_mtime_ns for path in source.rglob("*.py"))
    if stamp.exists() and stamp.read_text() == f"{source} {newest}":
        return
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder / "afterwit", ignore=shutil.ignore_patterns("__pycache__"))
    for name in MODULES:
        path = folder / "afterwit" / name.replace(".", "/")
        for built in path.parent.glob(f"{path.name}.*.so"):
            built.unlink()
    subprocess.run(
        [sys.executable, "-c", BUILD, ",".join(MODULES), ",".join(FLAGS), SHARED],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    stamp.write_text(f"{source} {newest}")
