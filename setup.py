"""The compiled modules. Everything else about the package is in pyproject.toml.

Each is an ordinary Python file in Cython's pure Python mode. They are optional: with no C compiler, or with
AFTERWIT_INTERPRETED=1, the same files are installed and run as Python.
"""

import os
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# No fused multiply-add: it rounds once where the sources round twice, and so differs between machines.
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno"]

COMPILED = [
    "afterwit._learner",
    "afterwit.experts._engine",
    "afterwit.experts.adahedge",
    "afterwit.experts.boa",
    "afterwit.experts.committee",
    "afterwit.experts.exp3",
    "afterwit.experts.exponential_weights",
    "afterwit.experts.fixed_share",
    "afterwit.experts.mlpol",
    "afterwit.experts.polynomial_weights",
    "afterwit.experts.randomized_weighted_majority",
    "afterwit.experts.repeat_last_label",
    "afterwit.experts.second_order_weights",
    "afterwit.experts.sleeping_experts",
    "afterwit.experts.swap_regret",
    "afterwit.experts.weighted_majority",
    "afterwit.experts._pushing",
    "afterwit.kernels._support",
    "afterwit.linear._engine",
    "afterwit.linear._losses",
    "afterwit.linear._multiplicative",
    "afterwit.linear._paired",
    "afterwit.linear._scaled",
    "afterwit.linear.adagrad",
    "afterwit.linear.averaged_perceptron",
    "afterwit.linear.balanced_winnow",
    "afterwit.linear.kernel_perceptron",
    "afterwit.linear.margin_perceptron",
    "afterwit.linear.online_svm",
    "afterwit.linear.perceptron",
    "afterwit.linear.sgd",
    "afterwit.linear.soft_threshold_network",
    "afterwit.linear.voted_perceptron",
    "afterwit.linear.winnow",
    "afterwit.streams._libsvm",
]


class OptionalBuild(build_ext):
    """Goes on without a module that cannot be compiled, for whatever reason: its Python file is there anyway."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extension(self, ext):
        try:
            super().build_extension(ext)
        except Exception as error:
            print(f"afterwit: {ext.name} is not compiled and will run as Python ({error})", file=sys.stderr)


def extensions():
    if os.environ.get("AFTERWIT_INTERPRETED"):
        return []
    from Cython.Build import cythonize

    modules = [
        Extension(name, [f"src/{name.replace('.', '/')}.py"], extra_compile_args=FLAGS, optional=True)
        for name in COMPILED
    ]
    return cythonize(modules, build_dir="build/cython", compiler_directives={"language_level": 3})


setup(ext_modules=extensions(), cmdclass={"build_ext": OptionalBuild})
