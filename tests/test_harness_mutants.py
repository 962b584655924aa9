"""The short part of make mutants: the tool itself, and some mutants that went unnoticed once."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "mutants.py"


def load():
    found = importlib.util.spec_from_file_location("mutants", SCRIPT)
    module = importlib.util.module_from_spec(found)
    sys.modules["mutants"] = module  # where dataclasses look for it
    found.loader.exec_module(module)
    return module


mutants = load()


# ---------------------------------------------------------------------- mutants that are noticed

#: File, old text, new text, and the test that has to fail.
NOTICED = [
    (
        "linear/_late_bounds.py",
        "margin >= rho * (1 - 1e-9)",
        "margin >= rho / 2 * (1 - 1e-9)",
        "linear/test_margin_perceptron.py::test_the_bound_needs_the_whole_margin_that_the_learner_was_made_with",
    ),
    (
        "experts/second_order_weights.py",
        "if horizon is None or evidence.rounds > horizon:",
        "if horizon is None:",
        "experts/test_expert_theorems.py::test_the_bound_for_a_horizon_is_not_claimed_after_more_rounds",
    ),
    (
        "experts/follow_the_perturbed_leader.py",
        "min(longest * harmonic, sums) - shortest)",
        "min(longest * harmonic, sums) - longest)",
        "experts/test_follow_the_perturbed_leader.py::test_the_constants_where_paths_differ_in_length",
    ),
    (
        "certify/paths.py",
        "width = max(high * length for length in lengths) - cheapest",
        "width = (high - low) * whole.most",
        "experts/test_online_shortest_path.py::test_the_width_is_that_of_paths_of_any_length_and_costs_anywhere",
    ),
    (
        "linear/perceptron.py",
        "self.add(self._rate * y)",
        "self.add(-self._rate * y)",
        "linear/test_perceptron.py",
    ),
    (
        "certify/rules.py",
        "return self.delta / self.bounds",
        "return self.delta",
        "concepts/test_id3.py::test_both_bounds",
    ),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return mutants.Bench(tmp_path_factory.mktemp("bench") / "0")


@pytest.mark.parametrize(("file", "old", "new", "test"), NOTICED, ids=[case[0] for case in NOTICED])
def test_a_test_notices(bench, file, old, new, test):
    text = mutants.text_of(file)
    assert text.count(old) == 1, "the line has changed: change this mutant with it"
    fate, _, by = bench.run([test], 120, file, text.replace(old, new))
    assert fate == "failed"
    assert test.partition("::")[0] in by, by


def test_what_is_no_mutant_passes_and_leaves_the_copy_as_it_was(bench):
    file = "linear/perceptron.py"
    changed = mutants.text_of(file) + "\n# the same\n"
    assert bench.run(["linear/test_perceptron.py"], 120, file, changed)[0] == "passed"
    assert (bench.folder / "src" / "afterwit" / file).read_text() == mutants.text_of(file)


def test_tests_that_cannot_be_run_notice_nothing(bench):
    with pytest.raises(SystemExit, match=r"cannot be run \(code 4\)"):
        bench.run(["linear/test_gone.py"], 120, "linear/perceptron.py", mutants.text_of("linear/perceptron.py"))


def test_a_mutant_that_cannot_be_imported_is_noticed(bench):
    broken = mutants.text_of("errors.py") + "\nimport nothing_of_this_name\n"
    fate, _, by = bench.run(["data/test_labels.py"], 120, "errors.py", broken)
    assert (fate, by.partition(" ")[0]) == ("failed", "ImportError")


def test_results_are_forgotten_when_what_tests_import_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(mutants, "TESTS", tmp_path)
    (tmp_path / "naive.py").write_text("1")
    (tmp_path / "test_this.py").write_text("1")
    before = mutants.helpers()
    (tmp_path / "test_this.py").write_text("2")
    assert mutants.helpers() == before
    (tmp_path / "naive.py").write_text("2")
    assert mutants.helpers() != before


# ---------------------------------------------------------------------- the tool


def test_every_mutant_is_python_and_another_text():
    for file in ("linear/sgd.py", "certify/rules.py", "games/_theorem.py"):
        original = ast.dump(ast.parse(mutants.text_of(file)))
        for each in mutants.mutants_of(file):
            assert ast.dump(ast.parse(each.applied(mutants.text_of(file)))) != original, each
    many = mutants.chosen(300, 1, wide=True)
    assert {each.kind for each in many} == set(mutants.KINDS)
    assert {each.file.partition("/")[0] for each in many} == set(mutants.FAMILIES)


def test_the_changes_of_a_small_file(tmp_path, monkeypatch):
    (tmp_path / "afterwit" / "linear").mkdir(parents=True)
    (tmp_path / "afterwit" / "linear" / "small.py").write_text(
        "LIMIT = 3\n"
        "def bound(radius, margin):\n"
        '    """Not 1 + 1."""\n'
        "    if margin < 0:\n"
        "        raise ValueError(1 + 2)\n"
        "    return 2 * (radius / margin)\n"
        "def update(weights, x, n):\n"
        "    for k in range(n):\n"
        "        weights[k] += max(x[k], -n)\n"
        "def _check_input(n):\n"
        "    return n + 1\n"
    )
    monkeypatch.setattr(mutants, "SOURCES", tmp_path)
    monkeypatch.setattr(mutants, "text_of", mutants.text_of.__wrapped__)
    found = {(each.line, each.new_line, each.kind) for each in mutants.mutants_of.__wrapped__("linear/small.py")}
    assert found == {
        (6, "return 3 * (radius / margin)", "constant"),
        (6, "return 2 / (radius / margin)", "factor"),
        (6, "return 2 * (radius * margin)", "factor"),
        (6, "return 0.5 * (2 * (radius / margin))", "factor"),
        (9, "weights[k + 1] += max(x[k], -n)", "index"),
        (9, "weights[k] -= max(x[k], -n)", "sign"),
        (9, "weights[k] += min(x[k], -n)", "comparison"),
        (9, "weights[k] += max(x[k + 1], -n)", "index"),
        (9, "weights[k] += max(x[k], n)", "sign"),
    }


def found_in(tmp_path, monkeypatch, file, text):
    """The changed lines of one file of sources that has nothing else."""
    path = tmp_path / "afterwit" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setattr(mutants, "SOURCES", tmp_path)
    monkeypatch.setattr(mutants, "text_of", mutants.text_of.__wrapped__)
    return {each.new_line for each in mutants.mutants_of.__wrapped__(file)}


def test_conditions_of_assumptions_are_changed_and_their_words_are_not(tmp_path, monkeypatch):
    text = (
        "def certify(evidence, n, least):\n"
        "    Assumption('one is right', OBSERVED, least == 0, f'{n + 1} rounds')\n"
        "    Assumption('some ' + 'text', OBSERVED, True, 'one' if n == 1 else f'{n}')\n"
        "    Assumption('a', OBSERVED, True if n else None, words or 'none', detail=', '.join(names[n - 1]))\n"
        "    return Hindsight(2 * least, 'by the best', gap=-least)\n"
    )
    assert found_in(tmp_path, monkeypatch, "experts/small.py", text) == {
        "Assumption('one is right', OBSERVED, least != 0, f'{n + 1} rounds')",
        "Assumption('one is right', OBSERVED, least == 1, f'{n + 1} rounds')",
        "Assumption('some ' + 'text', OBSERVED, False, 'one' if n == 1 else f'{n}')",
        "Assumption('a', OBSERVED, False if n else None, words or 'none', detail=', '.join(names[n - 1]))",
        "return Hindsight(2 / least, 'by the best', gap=-least)",
        "return Hindsight(3 * least, 'by the best', gap=-least)",
        "return Hindsight(2 * least, 'by the best', gap=least)",
    }


@pytest.mark.parametrize(
    ("file", "changed"), [("certify/small.py", {"return n - 1", "return n + 2"}), ("linear/small.py", set())]
)
def test_what_reads_and_checks_the_rounds_is_the_work_of_a_checker(tmp_path, monkeypatch, file, changed):
    assert found_in(tmp_path, monkeypatch, file, "def _check_votes(n):\n    return n + 1\n") == changed


@pytest.mark.parametrize(
    ("file", "function"),
    [
        ("kernels/kernel_perceptron.py", "KernelPerceptron._learn_rows"),
        ("linear/_engine.py", "LinearLearner._learn_rows"),
        ("linear/_engine.py", "LinearLearner._score_rows"),
        ("concepts/_growing.py", "grown"),
        ("experts/regrets.py", "to_the_awake"),
        ("hindsight/_quantile_program.py", "_grow"),
        ("certify/_expert_replay.py", "_other_learner"),
        ("certify/experts.py", "ExpertEvidence.ceiling"),
        ("certify/expert_rounds.py", "_check_votes"),
        ("certify/expert_rounds.py", "_check_means"),
        ("core/certificate.py", "Certificate.exceeded"),
        ("core/certificate.py", "Evidence.rounding"),
        ("reductions/one_vs_rest.py", "OneVsRest.predict_one"),
    ],
)
def test_what_computes_has_mutants(file, function):
    assert file in mutants.files()
    assert function in {each.within for each in mutants.mutants_of(file)}


def test_all_or_half_of_the_mutants_are_at_the_heart_of_the_matter():
    for count, seed in ((1, 1), (60, 5), (400, 1)):
        heart = [each for each in mutants.chosen(count, seed, wide=True) if mutants.is_heart(each)]
        assert abs(2 * len(heart) - count) <= 1 + len(mutants.explanations())
        assert heart == mutants.chosen(10**6, seed)[: len(heart)]
    assert {"bound", "update", "weigh", "certify", "regret_bound"} <= {each.within.rpartition(".")[2] for each in heart}
    # Where one half has no more, the other goes on: every mutant has its turn.
    everything = mutants.chosen(10**6, 1, ["linear/perceptron"], wide=True)
    assert sorted(each.begin for each in everything) == [
        each.begin for each in mutants.mutants_of("linear/perceptron.py")
    ]


def test_the_choice_is_the_same_for_a_seed():
    first = mutants.chosen(50, 1)
    assert first == mutants.chosen(50, 1)
    assert first == mutants.chosen(80, 1)[: len(first)]
    assert first != mutants.chosen(50, 2)
    assert len({(each.file, each.within) for each in first}) == len(first)
    assert mutants.chosen(50, 1, wide=True) == mutants.chosen(80, 1, wide=True)[: len(mutants.chosen(50, 1, wide=True))]
    assert all("boa" in each.file for each in mutants.chosen(5, 1, ["experts/boa"]))


def test_every_file_has_tests_of_its_own():
    for file in mutants.files():
        stages = mutants.stages_of(file, only_own=True)
        assert stages, file
        assert len({test for stage in stages for test in stage}) == sum(map(len, stages))
    for parts in (*mutants.OWN.values(), *mutants.ALSO.values(), mutants.EVERYTHING):
        for part in parts.split():
            assert mutants._tests_in(part), f"{part} is not there"
    for stem in (*mutants.OWN, *mutants.ALSO):
        assert (mutants.SOURCES / "afterwit" / stem).is_dir() or f"{stem}.py" in mutants.files(), stem


def test_every_explanation_is_of_a_mutant_that_exists():
    known = mutants.explanations()
    assert mutants.stale(known) == []
    assert len({(each.file, each.old, each.new) for each in known}) == len(known)
    gone = [
        mutants.Explanation("linear/perceptron.py", "x = 1", "x = 2", "there was such a line once"),
        mutants.Explanation("linear/gone.py", "x = 1", "x = 2", "there was such a file once"),
    ]
    assert mutants.stale(gone) == gone
    unexplained = mutants.Explanation(*vars(known[0]).values()) if known else None
    if unexplained:
        nothing = mutants.Explanation(unexplained.file, unexplained.old, unexplained.new, " ")
        assert mutants.stale([nothing]) == [nothing]


def test_a_survivor_is_reported_unless_it_is_explained(capsys):
    one, two = mutants.chosen(2, 1)
    outcomes = [mutants.Outcome(one, "survived", ""), mutants.Outcome(two, "killed", "FAILED tests/x.py")]
    assert mutants.report(outcomes, []) == 1
    assert f"SURVIVED: {one}" in capsys.readouterr().out
    why = mutants.Explanation(one.file, one.old_line, one.new_line, "nobody can tell")
    assert mutants.report(outcomes, [why]) == 0
    output = capsys.readouterr().out
    assert "1 of 1 were noticed (100.0%). Beside these, 1 are explained: " in output
    assert "nobody can tell" in output
    noticed = mutants.Explanation(two.file, two.old_line, two.new_line, "a test can tell after all")
    assert mutants.report(outcomes, [why, noticed]) == 1
    assert f"EXPLAINED, BUT NOTICED: {two}" in capsys.readouterr().out


def test_explained_mutants_do_not_count():
    known = mutants.explanations()
    for wide in (False, True):
        chosen = mutants.chosen(400, 1, wide=wide)
        explained = [each for each in chosen if any(why.fits(each) for why in known)]
        assert len(chosen) - len(explained) == 400
        assert explained
