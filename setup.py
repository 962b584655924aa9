"""The compiled modules. Everything else about the package is in pyproject.toml.

A module with the line ``import cython`` is an ordinary Python file in Cython's pure Python mode, and is compiled.
Either all of them are compiled or none: with no C compiler, or with AFTERWIT_INTERPRETED=1, the same files are
installed and run as Python. With AFTERWIT_COMPILED=1 the build fails instead, and also if Cython has a warning.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

# Holds what Cython would otherwise repeat in every module: nine tenths of the compiled code.
SHARED = "afterwit._cyutility"

FLAGS = [
    "-ffp-contract=off",  # a fused multiply-add rounds once where the sources round twice: results would differ
    "-fno-math-errno",
    "-fno-trapping-math",  # same bits, and loops with a choice in them vectorise: nobody reads the processor's flags
    "-g0",
    "-w",  # the C code is Cython's, and so would be the warnings
]


def extensions():
    if os.environ.get("AFTERWIT_INTERPRETED"):
        return []
    found = [extension(SHARED, "-O1", "src/afterwit/_cyutility.c")]
    for path in sorted(Path("src").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if re.search(r"^import cython$", source, re.MULTILINE):
            # The loops are in C functions. A module without any only calls Python, which -O3 does not make faster.
            level = "-O3" if "@cython.cfunc" in source else "-O1"
            found.append(extension(".".join(path.relative_to("src").with_suffix("").parts), level, path.as_posix()))
    return found


def extension(name, level, source):
    return Extension(name, [source], extra_compile_args=[level, *FLAGS], depends=["setup.py"])


class BuildAllOrNone(build_ext):
    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self):
        try:
            self.require_compiler()
            self.translate()
            super().build_extensions()
        except Exception as error:
            if os.environ.get("AFTERWIT_COMPILED"):
                raise
            self.extensions = []
            print(f"afterwit: NOT COMPILED, it will run as Python, which is slow ({error})", file=sys.stderr)

    def require_compiler(self):
        """Look for the compiler first: to translate everything for one that is not there takes a minute."""
        for program in getattr(self.compiler, "compiler", [])[:1]:
            if shutil.which(program) is None:
                raise FileNotFoundError(f"there is no compiler {program}")

    def translate(self):
        """Let Cython write the C files."""
        from Cython.Build import cythonize
        from Cython.Compiler import Options

        Options.warning_errors = bool(os.environ.get("AFTERWIT_COMPILED"))
        translated = cythonize(
            self.extensions,
            build_dir=self.build_temp,
            shared_utility_qualified_name=SHARED,
            compiler_directives={"language_level": 3, "show_performance_hints": False},
            quiet=True,
        )
        for ours, theirs in zip(self.extensions, translated, strict=True):
            ours.sources = theirs.sources
        # The largest first, so that all processors are done at the same time.
        self.extensions.sort(key=lambda module: os.path.getsize(module.sources[0]), reverse=True)


class BuildAfresh(build):
    """Removes what an earlier build left: modules that have moved since, or compiled ones if this time none is."""

    def run(self):
        super().run()
        commands = [self.get_finalized_command(name) for name in self.get_sub_commands()]
        built = {os.path.abspath(file) for command in commands for file in command.get_outputs()}
        for file in Path(self.build_lib).rglob("*"):
            if file.is_file() and os.path.abspath(file) not in built:
                file.unlink()


setup(ext_modules=extensions(), cmdclass={"build": BuildAfresh, "build_ext": BuildAllOrNone})
