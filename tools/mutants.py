"""Break the sources on purpose, one small thing at a time, and see whether the tests notice.

    python tools/mutants.py                     200 mutants, chosen by seed 1, two at a time
    python tools/mutants.py --count 50 --seed 7
    python tools/mutants.py --only experts/boa  mutants of these files only
    python tools/mutants.py --wide              every second one elsewhere: see below
    python tools/mutants.py --list              show which would be tried, and run nothing

A mutant is one change in a line that computes: of a sign, a factor, a constant, an index or a comparison. The lines
are those at the heart of the matter: of functions that update, weigh, score or bound, or say what a theorem needs.
With --wide every second one is elsewhere, as long as there are any left: in the rest of the algorithms, in checkers,
in hindsight and in what turns evidence into a verdict. It is made in a copy of src/ and tests/, which runs
interpreted. The tests of the file come first, then those of its family (not with --own), then those that look at
everything; of these, the tests that run the changed line, the quickest first. The first failure kills the mutant. A
mutant that passes all of them survives: a test is missing, or nothing can tell it from the original. Those of the
second kind are explained in mutants_explained.toml, by file, old line, new line and reason. They are tried again, and
counted apart. An explanation that fits no line any more is an error.

Which lines a test runs is noted once for each file of tests, by mutants_plugin.py. Results are kept in build/mutants/
and used again while the file, the tests that decided and what these import from tests/ are the same. Interrupt and
start again as you like. The exit code is 1 if a survivor is not explained, if one that is explained is noticed, or if
tests could not be run: that says nothing about a mutant, and ends the run.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import hashlib
import json
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, zip_longest
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
TESTS = ROOT / "tests"
KEPT = ROOT / "build" / "mutants"
EXPLAINED = ROOT / "tools" / "mutants_explained.toml"

FAMILIES = (
    *("linear", "experts", "kernels", "networks", "concepts", "games", "boosting", "portfolios", "batch", "sampling"),
    *("certify", "reductions", "hindsight", "core", "streams"),
)
#: The files of a family that compute, where most of its others store and read.
COMPUTING = {"core": ("certificate.py", "theorem.py")}
KINDS = ("sign", "factor", "constant", "index", "comparison")

#: Functions that read and check input, make room, store, or print: other tests are about these.
OTHER_WORK = re.compile(
    r"__(?!call__)\w+__|_?(check|checked|read|require|as|to(?!_the_awake|_fit_on)|from|make|need|lay)(_.*)?|"
    r"\w*_given|_?state|_become|restore|copy|_view|grow|_grown|_?longer|larger|release|write|most|height|portions|"
    r"blocks|_enter|_rest|_unpack|_admit|_accept_or_undo|_takes_blocks|_takes_objects|_thread_pools|one_thread|"
    r"_refusal|_in_words|_because_of_size|_named|_title|_sections|_progress|describe|parameters|_?names?|_by_feature|"
    r"_printed|_summary|details|_remark|_repr_html_|_line_of|line|_at_most|_amount|_wrapped|number|shown_number"
)
#: In a checker these read and check the rounds: that is its work.
CHECKING = re.compile(r"_(check|read)(_.*)?")
#: Functions that are the heart of the matter, but for those of checkers.
HEART = re.compile(
    r"_?(update|weigh|score|learn|play|target|kept_after_trading)|_(learn|score)_rows|(\w+_)?bound|certify"
)
#: Calls whose arguments are words for people, or settings that change no result.
NO_RESULT = {"invalid", "Words", "errstate", "InputError", "range_words", "shorten", "cast"}
#: Calls that say of what happened whether it holds, or how much it is, and explain it: the words are left alone.
JUDGEMENTS = {"Assumption", "Hindsight", "Ceiling"}
KEYWORDS = {
    "axis",
    "strict",
    "dtype",
    "copy",
    "keepdims",
    "kind",
    "check",
    "exceptval",
    "order",
    "ndmin",
    "maxiter",
    "markup",
}
#: What a theorem says about itself beside its formula.
CLAIMS = {"foreseeable", "beforehand", "largest"}

OPERATORS: dict[type[ast.AST], tuple[str, tuple[tuple[str, str], ...]]] = {
    ast.Add: ("+", (("-", "sign"),)),
    ast.Sub: ("-", (("+", "sign"),)),
    ast.Mult: ("*", (("/", "factor"),)),
    ast.Div: ("/", (("*", "factor"),)),
    ast.BitAnd: ("&", (("|", "sign"),)),
    ast.BitOr: ("|", (("&", "sign"),)),
    ast.And: ("and", (("or", "comparison"),)),
    ast.Or: ("or", (("and", "comparison"),)),
    ast.Lt: ("<", (("<=", "comparison"), (">=", "comparison"))),
    ast.LtE: ("<=", (("<", "comparison"), (">", "comparison"))),
    ast.Gt: (">", ((">=", "comparison"), ("<=", "comparison"))),
    ast.GtE: (">=", ((">", "comparison"), ("<", "comparison"))),
    ast.Eq: ("==", (("!=", "comparison"),)),
    ast.NotEq: ("!=", (("==", "comparison"),)),
}
SWAPPED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
}

#: The tests of a file, before the others of its family, where its name does not say them; of a family, for the rest.
OWN = {
    "linear": "linear/test_linear_theorems",
    "linear/_engine": "linear/test_engine linear/test_perceptron linear/test_intercept",
    "linear/_row": "linear/test_engine",
    "linear/_weights": "linear/test_engine linear/test_perceptron",
    "linear/_losses": "linear/test_sgd",
    "linear/_products": "linear/test_normalized_adagrad linear/test_scale_free",
    "linear/_late": "linear/test_late",
    "linear/_late_bounds": "linear/test_late",
    "linear/_late_regret": "linear/test_late",
    "linear/_mixed_bounds": "cluster/test_mixing",
    "cluster": "cluster/test_mixing cluster/test_dask",
    "streams/pieces": "streams/test_pieces",
    "experts/_late": "experts/test_late_advice",
    "certify/_late": "linear/test_late",
    "certify/_late_advice": "experts/test_late_advice",
    "linear/_regret": "linear/test_linear_theorems linear/test_sgd",
    "linear/_paired": "linear/test_averaged_perceptron linear/test_adagrad linear/test_balanced_winnow",
    "linear/_scaled": "linear/test_online_svm",
    "linear/_multiplicative": "linear/test_winnow linear/test_balanced_winnow",
    "linear/perceptron": "linear/test_perceptron linear/test_theorems",
    "linear/_multiclass": "linear/test_multiclass_perceptron",
    "linear/_class_weights": "linear/test_multiclass_perceptron",
    "linear/_class_scores": "linear/test_multiclass_perceptron kernels/test_nearest_neighbours",
    "kernels/nearest_neighbours": "kernels/test_nearest_neighbours",
    "reductions/multiclass_committee": "reductions/test_multiclass_committee",
    "reductions/_group_certificates": "reductions/test_per_group",
    "reductions/_group_rows": "reductions/test_per_group",
    "reductions/_many_members": "reductions/test_multiclass_committee",
    "linear/multiclass_perceptron": "linear/test_multiclass_perceptron linear/test_multiclass_theorems",
    "linear/softmax_adagrad": "linear/test_softmax_adagrad",
    "linear/averaged_multiclass_perceptron": "linear/test_multiclass_perceptron",
    "linear/margin_perceptron": "linear/test_margin_perceptron linear/test_linear_theorems",
    "linear/selective_perceptron": "linear/test_selective_perceptron",
    "experts/online_shortest_path": "experts/test_online_shortest_path experts/test_graph",
    "experts/_adaptive_rate": "experts/test_adaptive_rate experts/test_expert_oracles",
    "experts/_exp_concave": "experts/test_expert_theorems experts/test_expert_certificates",
    "experts/exponential_weights": "experts/test_adaptive_rate experts/test_certain_forecasts",
    "experts/_graph": "experts/test_graph",
    "experts/_pushing": "experts/test_graph experts/test_online_shortest_path",
    "experts/_path_learner": "experts/test_online_shortest_path experts/test_follow_the_perturbed_leader",
    "experts/aggregating_algorithm": "experts/test_aggregating_algorithm",
    "experts/_vectors": "experts/test_vectors experts/test_aggregating_algorithm",
    "experts/record": "experts/test_record",
    "experts/fixed_share": "experts/test_long_horizons experts/test_expert_oracles experts/test_expert_theorems",
    "experts/mlpol": "experts/test_long_horizons experts/test_expert_oracles experts/test_expert_theorems",
    "experts/strongly_adaptive": "experts/test_long_horizons experts/test_expert_oracles",
    "portfolios": "portfolios/test_portfolios",
    "certify/portfolios": "portfolios/test_portfolios",
    "hindsight/best_constant_rebalancing": "portfolios/test_portfolios",
    "experts/regrets": "experts/test_record",
    "experts": "experts/test_expert_numbers experts/test_expert_oracles experts/test_expert_theorems",
    "kernels/kernel_perceptron": "kernels/test_kernel_perceptron",
    "kernels": "kernels/test_kernels kernels/test_kernel_perceptron",
    "concepts/_tree": "concepts/test_id3",
    "concepts/_growing": "concepts/test_id3",
    "concepts/_categories": "concepts/test_id3",
    "concepts/_batch_rule": "concepts/test_id3 concepts/test_disjunction_learner",
    "concepts/id3": "concepts/test_id3",
    "concepts/disjunction_learner": "concepts/test_disjunction_learner",
    "concepts/radon": "concepts/test_radon",
    "concepts/_bits": "concepts/test_finite_class",
    "concepts/_distinct": "concepts/test_finite_class",
    "concepts/shattering": "concepts/test_dimensions",
    "concepts/littlestone": "concepts/test_dimensions",
    "concepts/online_disjunction": "concepts/test_disjunctions",
    "concepts/winnow_disjunction": "concepts/test_disjunctions",
    "concepts/_boolean_learner": "concepts/test_disjunctions",
    "concepts": "concepts/test_finite_class concepts/test_class_learners",
    "batch/average": "batch/test_average",
    "batch/confidence": "batch/test_confidence",
    "batch/progressive": "batch/test_confidence batch/test_formulas",
    "batch/kernel_margin": "batch/test_kernel_margin",
    "batch/frozen": "batch/test_frozen",
    "batch/penalized_selection": "batch/test_penalized_selection",
    "batch/_hypotheses": "batch/test_penalized_selection",
    "batch/_linear": "batch/test_average batch/test_penalized_selection",
    "batch": "batch/test_stopping batch/test_formulas batch/test_frozen",
    "streams/_numbers": "streams/test_numbers streams/test_libsvm",
    "streams/_lines": "streams/test_ahead streams/test_libsvm streams/test_vw",
    "streams/_bytes": "streams/test_ahead streams/test_bombs",
    "streams": "streams/test_schema",
    "streams/_names": "streams/test_vw",
    "sampling": "batch/test_sample_sizes bounds/test_bounds",
    "boosting": "boosting/test_boosting",
    "games": "games/test_solve_game games/test_game_theorems",
    "networks": "networks/test_soft_threshold_network",
    "certify/streamed": "certify/test_streamed",
    "certify/_streamed_committee": "certify/test_streamed",
    "certify/_streamed_descent": "certify/test_streamed",
    "certify/_streamed_linear": "certify/test_streamed",
    "certify/_streamed_passive_aggressive": "certify/test_streamed",
    "certify/_streamed_perceptron": "certify/test_streamed",
    "certify/_streamed_multiplicative": "certify/test_streamed",
    "certify/_streamed_regression_committee": "certify/test_streamed",
    "certify/_streamed_ridge": "certify/test_streamed",
    "certify/_streamed_standardize": "certify/test_streamed",
    "certify/passive_aggressive": "linear/test_passive_aggressive",
    "certify/intervals": "reductions/test_conformal_intervals",
    "certify/regression_committee": "reductions/test_regression_committee",
    "certify/repeat_last_target": "reductions/test_regression_committee",
    "certify/ridge": "linear/test_online_ridge",
    "certify/perceptron": "linear/test_margin_perceptron linear/test_theorems",
    "certify/selective": "linear/test_selective_perceptron",
    "certify/linear": "linear/test_theorems linear/test_linear_theorems",
    "certify/descent": "linear/test_linear_theorems",
    "certify/_descent_steps": "linear/test_linear_theorems",
    "certify/_descent_trace": "linear/test_linear_theorems certify/test_streamed",
    "certify/multiplicative": "linear/test_linear_theorems linear/test_winnow",
    "certify/replay": "linear/test_theorems linear/test_linear_theorems",
    "certify/kernel": "kernels/test_kernel_perceptron",
    "certify/_expert_replay": "experts/test_expert_certificates experts/test_expert_rounding "
    "experts/test_certain_forecasts",
    "certify/experts": "experts/test_expert_certificates experts/test_expert_rounding experts/test_expert_theorems",
    "certify/expert_rounds": "experts/test_vectors experts/test_aggregating_algorithm experts/test_expert_certificates "
    "experts/test_expert_rounding",
    "certify/paths": "experts/test_online_shortest_path experts/test_follow_the_perturbed_leader",
    "certify/repeat_last_label": "experts/test_repeat_last_label",
    "certify/finite_class": "concepts/test_class_learners",
    "certify/boolean": "concepts/test_disjunctions",
    "certify/rules": "concepts/test_id3 concepts/test_disjunction_learner",
    "certify/boosting": "boosting/test_boosting",
    "certify/games": "games/test_game_theorems",
    "certify/committee": "reductions/test_committee",
    "certify/softmax": "linear/test_softmax_adagrad",
    "certify/multiclass": "linear/test_multiclass_theorems",
    "certify/one_vs_rest": "reductions/test_one_vs_rest",
    "certify/calibrated": "reductions/test_calibrated",
    "certify/standardize": "reductions/test_standardize",
    "reductions/_moments": "reductions/test_standardize",
    "reductions/_radius": "reductions/test_conformal_intervals",
    "reductions/_forecasters": "reductions/test_conformal_intervals",
    "reductions/_binary": "reductions/test_one_vs_rest reductions/test_committee",
    "reductions": "reductions/test_committee reductions/test_one_vs_rest",
    "hindsight/_errors": "hindsight/test_interior_point hindsight/test_best_combinations",
    "hindsight/_interior_point": "hindsight/test_interior_point",
    "hindsight/_level_method": "hindsight/test_best_combinations",
    "hindsight/_nearest_mixture": "hindsight/test_best_combinations hindsight/test_interior_point",
    "hindsight/_quantile_program": "hindsight/test_best_combinations hindsight/test_interior_point",
    "hindsight/_multiclass": "linear/test_multiclass_theorems",
    "hindsight/best_convex_combination": "hindsight/test_best_combinations hindsight/test_interior_point",
    "hindsight/best_shifting": "hindsight/test_best_expert hindsight/test_best_combinations",
    "hindsight/least_loss": "hindsight/test_one_norm_and_least_loss hindsight/test_unscaled",
    "hindsight/max_margin_one_norm": "hindsight/test_one_norm_and_least_loss hindsight/test_unscaled",
    "hindsight": "hindsight/test_hindsight hindsight/test_unscaled hindsight/test_best_expert",
    "core/certificate": "core/test_certificate experts/test_expert_rounding",
    "core/theorem": "bounds/test_bounds core/test_certificate",
    "streams/arrow": "streams/test_arrow_ipc streams/test_parquet",
    "streams/_words": "streams/test_parquet streams/test_frames",
    "streams/_parts": "streams/test_parquet streams/test_sql",
    "streams/_pandas": "streams/test_frames",
    "streams/_store": "streams/test_ordered",
    "streams/_database": "streams/test_sql streams/test_ordered",
    "streams/_files": "streams/test_parquet streams/test_arrow_ipc",
}
#: The tests of what theorems claim about themselves, and of their closed formulas.
SPECIAL = {**dict.fromkeys(CLAIMS, "bounds/test_theorems_agree"), "bound": "bounds/test_bounds"}
#: Further folders and files for a family; its own folder is always there.
ALSO = {
    "linear": "bounds batch/test_average",
    "experts": "bounds adversaries/test_experts_are_bitten reductions/test_committee",
    "kernels": "batch/test_kernel_margin batch/test_penalized_selection core/test_turns",
    "concepts": "bounds",
    "games": "bounds",
    "boosting": "bounds",
    "batch": "bounds",
    "streams/_numbers": "streams/test_numbers streams/test_libsvm",
    "streams/_lines": "streams/test_ahead streams/test_libsvm streams/test_vw",
    "streams/_bytes": "streams/test_ahead streams/test_bombs",
    "streams/_names": "streams/test_vw",
    "sampling": "batch concepts/test_id3 concepts/test_disjunction_learner",
    "hindsight": "linear/test_linear_theorems linear/test_theorems experts/test_expert_certificates",
    "core": "linear/test_theorems linear/test_linear_theorems experts/test_expert_certificates bounds",
    "certify": "core/test_certificate linear/test_linear_theorems experts/test_expert_certificates reductions",
    "reductions": "linear/test_divergence core/test_turns",
}
#: Tests that look at everything: at certificates, and at learners.
CERTIFICATES = "test_kept_certificates"
EVERYTHING = "testing/test_conformance testing/test_expert_testing"

#: Exit codes of tests that end in a crash.
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGFPE, -signal.SIGBUS)
#: What pytest says if nothing can be imported.
UNIMPORTABLE = "ImportError while loading conftest"
#: Seconds for the tests of one mutant beyond three times what they take without it.
PATIENCE = 30


# ---------------------------------------------------------------------- making mutants


@dataclass(frozen=True)
class Mutant:
    """One change: the text from ``begin`` to ``end`` of a file becomes ``new``."""

    file: str
    line: int
    within: str
    kind: str
    begin: int
    end: int
    new: str
    #: The line before and after, without the blanks around it.
    old_line: str
    new_line: str

    def applied(self, text: str) -> str:
        return text[: self.begin] + self.new + text[self.end :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.kind})\n    - {self.old_line}\n    + {self.new_line}"


class _Finder(ast.NodeVisitor):
    """Every change of one file."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []
        self.path: list[str] = []
        self.inside = False
        self.counters: set[str] = set()

    # -- where things are

    def place(self, line: int, column: int) -> int:
        """Columns of the syntax tree count bytes."""
        start = self.starts[line - 1]
        whole = self.text[start : self.starts[line]]
        return start + len(whole.encode()[:column].decode())

    def begin(self, node: Any) -> int:
        return self.place(node.lineno, node.col_offset)

    def end(self, node: Any) -> int:
        return self.place(node.end_lineno, node.end_col_offset)

    def change(self, begin: int, end: int, new: str, kind: str) -> None:
        line = self.text.count("\n", 0, begin) + 1
        first, last = self.starts[line - 1], self.starts[line]
        if end > last:
            return
        old_line = self.text[first:last].strip()
        new_line = (self.text[first:begin] + new + self.text[end:last]).strip()
        self.found.append(Mutant(self.file, line, ".".join(self.path), kind, begin, end, new, old_line, new_line))

    def between(self, left: Any, right: Any, operator: Any) -> None:
        """The operator that stands between two operands."""
        if type(operator) not in OPERATORS:
            return
        sign, others = OPERATORS[type(operator)]
        gap = self.text[self.end(left) : self.begin(right)]
        at = gap.find(sign)
        if at < 0 or "#" in gap:
            return
        begin = self.end(left) + at
        for new, kind in others:
            self.change(begin, begin + len(sign), new, kind)

    # -- what is looked into

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.path.append(node.name)
        for part in node.body:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name) and part.targets[0].id in CLAIMS:
                self.path.append(part.targets[0].id)
                if isinstance(part.value, ast.Constant):
                    self.visit(part.value)
                self.path.pop()
            elif isinstance(part, ast.FunctionDef | ast.ClassDef):
                self.visit(part)
        self.path.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if OTHER_WORK.fullmatch(node.name) and not (_is_checker(self.file) and CHECKING.fullmatch(node.name)):
            return
        self.path.append(node.name)
        before = self.inside, self.counters
        self.inside, self.counters = True, _counters(node)
        for part in node.body:
            self.visit(part)
        self.inside, self.counters = before
        self.path.pop()

    def visit_Module(self, node: ast.Module) -> None:
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.ClassDef):
                self.visit(part)

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "compiled" in ast.unparse(node.test) or all(isinstance(part, ast.Raise) for part in node.body):
            # Only one form, or only a refusal, depends on the condition.
            for part in node.orelse:
                self.visit(part)
            return
        self.generic_visit(node)

    # -- what is changed

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not any(
            isinstance(side, ast.List | ast.Tuple | ast.JoinedStr) or _is_text(side) for side in (node.left, node.right)
        ):
            self.between(node.left, node.right, node.op)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, node.op)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self.between(left, right, operator)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in OPERATORS and not isinstance(node.value, ast.List | ast.Tuple | ast.JoinedStr):
            self.between(node.target, node.value, node.op)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        begin = self.begin(node)
        if isinstance(node.op, ast.USub):
            self.change(begin, begin + 1, "", "sign")
        elif isinstance(node.op, ast.Not):
            self.change(begin, begin + len("not "), "", "comparison")
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            new = str(not value)
        elif isinstance(value, int):
            new = str(value + 1)
        elif isinstance(value, float) and (value == 0 or 1e-6 < abs(value) < 1e6):
            new = repr(2 * value or 1.0)
        else:
            return
        self.change(self.begin(node), self.end(node), new, "constant")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for index in indices:
            for each in (index.lower, index.upper) if isinstance(index, ast.Slice) else (index,):
                if isinstance(each, ast.Name) and each.id in self.counters:
                    self.change(self.end(each), self.end(each), " + 1", "index")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in NO_RESULT:
            return
        if name in SWAPPED:
            end = self.end(node.func)
            self.change(end - len(name), end, SWAPPED[name], "comparison")
        self.visit(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg not in KEYWORDS)]
        for each in values:
            if name not in JUDGEMENTS or not _is_words(each):
                self.visit(each)

    def visit_Return(self, node: ast.Return) -> None:
        if self.path[-1] == "bound" and node.value is not None and node.lineno == node.end_lineno:
            begin, end = self.begin(node.value), self.end(node.value)
            self.change(begin, end, f"0.5 * ({self.text[begin:end]})", "factor")
        self.generic_visit(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_words(node: ast.AST) -> bool:
    """A text, or a choice between texts."""
    match node:
        case ast.IfExp():
            return _is_words(node.body) or _is_words(node.orelse)
        case ast.BoolOp():
            return any(map(_is_words, node.values))
        case ast.BinOp():
            return _is_words(node.left) or _is_words(node.right)
        case ast.Call():
            return isinstance(node.func, ast.Attribute) and _is_words(node.func.value)
    return isinstance(node, ast.JoinedStr) or _is_text(node)


def _is_checker(file: str) -> bool:
    return file.startswith("certify/")


def _counters(node: ast.FunctionDef) -> set[str]:
    """Names of whole numbers: those of loops over a range, and those declared as such."""
    names = set()
    for each in ast.walk(node):
        if (
            isinstance(each, ast.For)
            and isinstance(each.target, ast.Name)
            and ast.unparse(each.iter).startswith("range(")
        ):
            names.add(each.target.id)
        if (
            isinstance(each, ast.AnnAssign)
            and isinstance(each.target, ast.Name)
            and ast.unparse(each.annotation) in ("cython.Py_ssize_t", "cython.int")
        ):
            names.add(each.target.id)
    return names


def files() -> list[str]:
    """The files that have mutants, as paths below src/afterwit."""
    found = (path for family in FAMILIES for path in sorted((SOURCES / "afterwit" / family).glob("*.py")))
    return [
        str(path.relative_to(SOURCES / "afterwit"))
        for path in found
        if path.name != "__init__.py" and path.name in COMPUTING.get(path.parent.name, (path.name,))
    ]


@cache
def text_of(file: str) -> str:
    return (SOURCES / "afterwit" / file).read_text()


@cache
def mutants_of(file: str) -> tuple[Mutant, ...]:
    """Every mutant of a file, in the order of the text. All are Python, though perhaps nonsense."""
    finder = _Finder(file, text_of(file))
    finder.visit(ast.parse(text_of(file)))
    unique = {(each.begin, each.end, each.new): each for each in finder.found}
    return tuple(sorted(unique.values(), key=lambda each: (each.begin, each.end, each.new)))


def chosen(count: int, seed: int, only: Sequence[str] = (), wide: bool = False) -> list[Mutant]:
    """So many mutants, by chance but the same for a seed: all at the heart of the matter; if wide, every second one.

    Those that are explained come in their turn, but do not count: nothing can tell them from the original.

    In each half they are one of each function in turn, in a random order. The order goes by hashes of the text, so that
    a change of one function leaves the mutants of the others of its half in place.
    """
    functions: dict[tuple[str, str], list[Mutant]] = {}
    for file in files():
        if not only or any(part in file for part in only):
            for each in mutants_of(file):
                functions.setdefault((file, each.within), []).append(each)
    names = sorted(functions, key=lambda name: _key(str(seed), *name))
    halves: tuple[list[list[Mutant]], list[list[Mutant]]] = ([], [])
    for name in names:
        group = sorted(functions[name], key=lambda each: _key(str(seed), each.old_line, each.new_line))
        if is_heart(group[0]):
            halves[0].append(group)
        elif wide:
            halves[1].append(group)
    in_order = [each for pair in zip_longest(*map(_in_turn, halves)) for each in pair if each is not None]
    known = {(each.file, each.old, each.new) for each in explanations()}
    counting = accumulate((each.file, each.old_line, each.new_line) not in known for each in in_order)
    return [each for each, number in zip(in_order, counting, strict=True) if number <= count]


def _in_turn(groups: Sequence[Sequence[Mutant]]) -> Iterator[Mutant]:
    """The first of each group, then the second of each, until there are no more."""
    return (each for layer in zip_longest(*groups) for each in layer if each is not None)


def is_heart(mutant: Mutant) -> bool:
    """Whether the line updates, weighs, scores, bounds or certifies."""
    return not _is_checker(mutant.file) and any(map(HEART.fullmatch, mutant.within.split(".")))


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


# ---------------------------------------------------------------------- explanations


@dataclass(frozen=True)
class Explanation:
    """Why no test can tell a mutant from the original: it is the same, or only slower."""

    file: str
    old: str
    new: str
    reason: str

    def fits(self, mutant: Mutant) -> bool:
        return (mutant.file, mutant.old_line, mutant.new_line) == (self.file, self.old, self.new)


def explanations() -> list[Explanation]:
    """What tools/mutants_explained.toml says."""
    entries = tomllib.loads(EXPLAINED.read_text())["equivalent"] if EXPLAINED.exists() else []
    return [Explanation(**entry) for entry in entries]


def stale(known: Iterable[Explanation]) -> list[Explanation]:
    """Explanations of mutants that do not exist, or without a reason."""
    there = set(files())
    return [
        each
        for each in known
        if not each.reason.strip() or each.file not in there or not any(map(each.fits, mutants_of(each.file)))
    ]


# ---------------------------------------------------------------------- tests


def stages_of(file: str, only_own: bool, within: str = "") -> list[list[str]]:
    """The tests of a file in stages: its own one by one, kept certificates, its family's, those of everything."""
    stem = file.removesuffix(".py")
    family = stem.partition("/")[0]
    namesake = _tests_in(f"{family}/test_{stem.rpartition('/')[2].lstrip('_')}")
    special = _tests_in(SPECIAL.get(within.rpartition(".")[2], ""))
    own = dict.fromkeys([*special, *namesake, *_tests_in(OWN.get(stem, OWN.get(family, "")))])
    stages, seen = [[each] for each in own], set(own)
    for wider in () if only_own else (CERTIFICATES, f"{family} {ALSO.get(family, '')}", EVERYTHING):
        stages.append([each for each in dict.fromkeys(_tests_in(wider)) if each not in seen])
        seen.update(stages[-1])
    return [stage for stage in stages if stage]


def _tests_in(parts: str) -> list[str]:
    """Test files by name, or all of a folder, below tests/; those that exist."""
    found: list[Path] = []
    for part in parts.split():
        folder = TESTS / part
        found += sorted(folder.glob("test_*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    return [str(path.relative_to(TESTS)) for path in found if path.exists()]


class Bench:
    """A copy of the sources in which one mutant at a time is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        for part in (SOURCES, TESTS):
            shutil.copytree(
                part, folder / part.name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
            )
        shutil.copy(ROOT / "pyproject.toml", folder)
        # By the text and not by the time: a mutant of the same length within a second is another file all the same.
        compileall.compile_dir(folder / "src", quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)

    def run(
        self,
        tests: Sequence[str],
        timeout: float,
        file: str = "",
        text: str = "",
        chosen: Sequence[str] = (),
        seen: Path | None = None,
    ) -> tuple[str, float, str]:
        """Passed, failed or timeout; the seconds; and the first failure. With a text in place of a file, if given.

        With the chosen tests only, if given; and noting what each test runs, if it is said where.
        """
        path = self.folder / SOURCES.name / "afterwit" / file
        original = path.read_text() if file else ""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-m", "not installed_only"]
        command += ["-p", "no:cacheprovider", "-p", "mutants_plugin", *(f"tests/{each}" for each in tests)]
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE"))},
            "PYTHONPATH": os.pathsep.join([str(self.folder / SOURCES.name), str(Path(__file__).parent)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "AFTERWIT_EXPECT": "interpreted",
            "AFTERWIT_EXAMPLES": os.environ.get("AFTERWIT_EXAMPLES", "5"),
            "AFTERWIT_SHRINK": "0",
            "OPENBLAS_NUM_THREADS": "1",
        }
        if seen:
            environment["MUTANTS_SEEN"] = str(seen)
        if chosen:
            (self.folder / "chosen.json").write_text(json.dumps(chosen))
            environment["MUTANTS_CHOSEN"] = str(self.folder / "chosen.json")
        begin = time.monotonic()
        if file:
            path.write_text(text)
        try:
            code, output = self._finished(command, environment, timeout)
        except subprocess.TimeoutExpired:
            return "timeout", time.monotonic() - begin, "no end"
        finally:
            if file:
                path.write_text(original)
        # A wrong call of pytest fails no test; but it ends in the same way where conftest.py cannot import a mutant.
        unimportable = code == 4 and bool(file) and UNIMPORTABLE in output
        if code not in (0, 1, 2, *CRASHES) and not unimportable:
            raise SystemExit(f"the tests {' '.join(tests)} were stopped, or cannot be run (code {code}):\n{output}")
        lines = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR", UNIMPORTABLE))]
        return ("failed" if code else "passed"), time.monotonic() - begin, (lines or [""])[0]

    def _finished(self, command: list[str], environment: dict[str, str], timeout: float) -> tuple[int, str]:
        """The exit code and the output."""
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.stop()
            raise
        return self.process.returncode, output

    def stop(self) -> None:
        """End the tests, and what they have started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()


# ---------------------------------------------------------------------- running


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    #: "killed", "timeout" or "survived".
    fate: str
    by: str


class Memory:
    """What happened to mutants before, while source and tests are the same."""

    def __init__(self, folder: Path, fresh: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "results.jsonl"
        self.lock = threading.Lock()
        self.known: dict[str, dict[str, Any]] = {}
        if self.path.exists() and not fresh:
            for line in self.path.read_text().splitlines():
                entry = json.loads(line)
                self.known[entry["key"]] = entry

    def find(self, key: str) -> dict[str, Any] | None:
        return self.known.get(key)

    def keep(self, key: str, **entry: Any) -> None:
        with self.lock:
            self.known[key] = {"key": key, **entry}
            with self.path.open("a") as out:
                print(json.dumps(self.known[key]), file=out)


@cache
def _content(part: str) -> str:
    return hashlib.sha256((TESTS / part).read_bytes()).hexdigest()


def helpers() -> str:
    """What the tests import beside the package, in a few letters: oracles, cases, conftest.py."""
    return _key(*(path.read_text() for path in sorted(TESTS.glob("*.py")) if not path.name.startswith("test_")))


class Run:
    """Mutants tried on some benches."""

    def __init__(self, folder: Path, workers: int, fresh: bool, own: bool, known: Sequence[Explanation]) -> None:
        self.own, self.known = own, known
        self.memory = Memory(folder, fresh)
        self.sources = {file: _key(text_of(file)) for file in files()}
        self.helpers = helpers()
        for path in TESTS.rglob("test_*.py"):
            _content(str(path.relative_to(TESTS)))  # of now: what is edited from here on is no part of this run
        self.place = Path(tempfile.mkdtemp(dir=folder))
        self.benches = [Bench(self.place / str(i)) for i in range(workers)]
        self.free: SimpleQueue[Bench] = SimpleQueue()
        for bench in self.benches:
            self.free.put(bench)
        self.asking = threading.Lock()
        self.being_seen: dict[str, threading.Lock] = {}
        self.seen: dict[str, Seen] = {}

    def close(self) -> None:
        for bench in self.benches:
            bench.stop()
        shutil.rmtree(self.place, ignore_errors=True)

    def all(self, mutants: Sequence[Mutant]) -> Iterator[Outcome]:
        """What happens to each, in order."""
        pool = ThreadPoolExecutor(len(self.benches))
        try:
            yield from pool.map(self.one, mutants)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            self.close()

    def one(self, mutant: Mutant) -> Outcome:
        bench = self.free.get()
        try:
            return self._tried(bench, mutant)
        finally:
            self.free.put(bench)

    def _tried(self, bench: Bench, mutant: Mutant) -> Outcome:
        text = mutant.applied(text_of(mutant.file))
        # That no test can tell is said of an explained mutant: its own tests are enough to see that none does.
        only_own = self.own or any(each.fits(mutant) for each in self.known)
        for stage in stages_of(mutant.file, only_own, mutant.within):
            key = _key(mutant.file, text, self.helpers, *map(_content, sorted(stage)))
            found = self.memory.find(key)
            if found is None:
                chosen = sorted(
                    (seconds, test)
                    for each in stage
                    for test, seconds in self._seen(bench, each, mutant.file).those_at(mutant)
                )
                if not chosen:
                    continue
                tests = [test for _, test in chosen]
                within = dict.fromkeys(test.partition("::")[0].removeprefix("tests/") for test in tests)
                timeout = 3 * sum(seconds for seconds, _ in chosen) + PATIENCE
                fate, seconds, by = bench.run(list(within), timeout, mutant.file, text, tests)
                found = {"fate": fate, "by": by}
                self.memory.keep(key, **found, seconds=round(seconds, 1), mutant=str(mutant))
            if found["fate"] != "passed":
                return Outcome(mutant, "timeout" if found["fate"] == "timeout" else "killed", found["by"])
        return Outcome(mutant, "survived", "")

    def _seen(self, bench: Bench, test: str, file: str) -> Seen:
        """What the tests of a file run without any mutant, of this file of sources as it is now; they have to pass."""
        path = self.memory.path.parent / f"seen-{_key(test, _content(test), self.helpers)}.json"
        with self.asking:
            lock = self.being_seen.setdefault(test, threading.Lock())
        with lock:
            if test not in self.seen and path.exists():
                self.seen[test] = Seen(**json.loads(path.read_text()))
            if test not in self.seen or self.seen[test].sources[file] != self.sources[file]:
                noted = bench.folder / "seen.json"
                fate, _, by = bench.run([test], 3600, seen=noted)
                if fate != "passed":
                    raise SystemExit(f"tests/{test} does not pass without any mutant: {by}")
                self.seen[test] = Seen(**json.loads(noted.read_text()), sources=self.sources)
                noted.write_text(json.dumps(vars(self.seen[test])))
                noted.replace(path)
        return self.seen[test]


@dataclass(frozen=True)
class Seen:
    """Which lines the tests of one file run, as mutants_plugin.py notes it."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, str]]
    #: The text of every file of sources at that time, in a few letters.
    sources: dict[str, str]

    def those_at(self, mutant: Mutant) -> Iterator[tuple[str, float]]:
        """The tests that run a mutant's line, with their seconds; all of them if it is run for all."""
        lines = sum(1 << line for line in statement_of(mutant))
        shared = self._runs("", mutant.file, lines)
        return ((test, each) for test, each in self.seconds.items() if shared or self._runs(test, mutant.file, lines))

    def _runs(self, test: str, file: str, lines: int) -> bool:
        return bool(int(self.lines.get(test, {}).get(file, "0"), 16) & lines)


@cache
def _statements(file: str) -> list[tuple[int, int]]:
    """The first and last line of every statement of a file; of one that holds others, those before them."""
    return [
        (each.lineno, each.body[0].lineno - 1 if getattr(each, "body", None) else each.end_lineno)  # type: ignore[attr-defined]
        for each in ast.walk(ast.parse(text_of(file)))
        if isinstance(each, ast.stmt)
    ]


def statement_of(mutant: Mutant) -> range:
    """The lines of the statement that a mutant changes."""
    first, last = max(
        (begin, end) for begin, end in _statements(mutant.file) if begin <= mutant.line <= max(begin, end)
    )
    return range(first, max(first, last) + 1)


def report(outcomes: Sequence[Outcome], known: Sequence[Explanation]) -> int:
    """Print what happened to whom; how many survivors nobody explains, and how many explanations are wrong."""
    fates = ("killed", "timeout", "survived")
    print(f"  {'':<12}" + "".join(f"{fate:>10}" for fate in fates))
    groups = [(kind, [each for each in outcomes if each.mutant.kind == kind]) for kind in KINDS]
    groups += [(family, [each for each in outcomes if each.mutant.file.startswith(family)]) for family in FAMILIES]
    for name, group in [*groups, ("all", list(outcomes))]:
        counts = Counter(each.fate for each in group)
        print(f"  {name:<12}" + "".join(f"{counts[fate]:>10}" for fate in fates))
    survivors = [each.mutant for each in outcomes if each.fate == "survived"]
    explained = [(each, why) for each in survivors if (why := next((e for e in known if e.fits(each)), None))]
    rest = [each for each in survivors if not any(e.fits(each) for e in known)]
    tried = len(outcomes) - len(explained)
    print(
        f"{tried - len(rest)} of {tried} were noticed ({(tried - len(rest)) / max(1, tried):.1%}). "
        f"Beside these, {len(explained)} are explained: nothing can tell them from the original."
    )
    wrong = [each.mutant for each in outcomes if each.fate != "survived" and any(e.fits(each.mutant) for e in known)]
    for mutant in wrong:
        print(f"EXPLAINED, BUT NOTICED: {mutant}")
    for mutant, why in explained:
        print(f"explained: {mutant}\n    {why.reason}")
    for mutant in rest:
        print(f"SURVIVED: {mutant}")
    return len(rest) + len(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description="Break the sources on purpose and see whether the tests notice.")
    parser.add_argument("--count", type=int, default=200, help="how many mutants (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="which mutants (default: 1)")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time (default: 2)")
    parser.add_argument("--only", nargs="*", default=(), help="files whose path has one of these parts")
    parser.add_argument("--wide", action="store_true", help="every second one away from the heart of the matter")
    parser.add_argument("--own", action="store_true", help="run the tests of the file itself, and no wider ones")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    arguments = parser.parse_args()
    known = explanations()
    if gone := stale(known):
        for each in gone:
            what = f"{EXPLAINED.name}: {each.file} has no such mutant, or no reason is given"
            print(f"{what}\n    - {each.old}\n    + {each.new}")
        return 1
    mutants = chosen(arguments.count, arguments.seed, arguments.only, arguments.wide)
    if arguments.list:
        for each in mutants:
            print(each)
        return 0
    os.nice(3)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    run = Run(KEPT, arguments.workers, arguments.fresh, arguments.own, known)
    outcomes = []
    for outcome in run.all(mutants):
        outcomes.append(outcome)
        place = f"{outcome.mutant.file}:{outcome.mutant.line}"
        print(f"{len(outcomes):>4}  {outcome.fate:<9} {place}  {outcome.by[:80]}", flush=True)
    return 1 if report(outcomes, known) else 0


if __name__ == "__main__":
    sys.exit(main())
