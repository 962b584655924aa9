"""afterwit bound and afterwit sample-size."""

import math
import re
from pathlib import Path

import pytest

import naive_bounds
from afterwit.bounds import BOUNDS, SAMPLE_SIZES, evaluate
from conftest import only_json

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "bounds.md").read_text()


def test_a_bound_shows_formula_numbers_and_result(run_process):
    result = run_process("bound", "perceptron", "--radius", "1", "--margin", "0.1")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "perceptron (Novikoff 1962; Mohri et al. 2018, Theorem 8.8)\n"
        "  mistakes <= (R / gamma)^2\n"
        "            = (1 / 0.1)^2\n"
        "            = 100\n"
        "  with R = 1 (radius), gamma = 0.1 (margin)\n"
        "  if w starts at 0 and a hyperplane through 0 separates the examples with that margin\n"
    )


def test_a_sample_size_is_the_smallest(run_cli):
    result = run_cli("sample-size", "vc", "--dimension", "10", "--error", "0.1", "--delta", "0.05")
    assert (result.returncode, result.stderr) == (0, "")
    size = int(re.search(r"= (\d+) \(the smallest whole number\), with probability 1 - delta", result.stdout).group(1))
    assert naive_bounds.BOUNDS["vc"](samples=size, vc_dimension=11, delta=0.05) <= 0.1
    assert naive_bounds.BOUNDS["vc"](samples=size - 1, vc_dimension=11, delta=0.05) > 0.1


def test_the_list_has_everything(run_cli):
    for command, theorems in (("bound", BOUNDS), ("sample-size", SAMPLE_SIZES)):
        result = run_cli(command, "--list")
        assert (result.returncode, result.stderr) == (0, "")
        for entry in theorems.values():
            assert f"{entry.id}\n  {entry.inequality}\n  {entry.citation}\n" in result.stdout
            for each in entry.inputs:
                for name in each.names:
                    assert f"--{name.replace('_', '-')} " in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["bound", "percptron"],
            f"there is no theorem 'percptron' among the {len(BOUNDS)} here; did you mean perceptron or",
        ),
        (["bound", "margin_perceptron"], "did you mean margin-perceptron"),
        (
            ["sample-size", "qqq"],
            f"there is no theorem 'qqq' among the {len(SAMPLE_SIZES)} here; --list shows all names",
        ),
        (
            ["bound", "perceptron"],
            "--radius must be given for perceptron: the length of the longest example, a positive",
        ),
        (
            ["bound", "perceptron", "--radius", "1", "--margin", "x"],
            "--margin must be a number, such as 10, 0.05 or 1e-6",
        ),
        (
            ["bound", "perceptron", "--radius", "1", "--margin", "-1"],
            "--margin must be a positive finite number; received -1",
        ),
        (
            ["bound", "perceptron", "--radius", "1", "--margin", "nan"],
            "--margin must be a positive finite number; received nan",
        ),
        (
            ["bound", "perceptron", "--radius", "1", "--margin", "2"],
            "--margin must be at most the radius, 1; received 2.0",
        ),
        (["bound", "perceptron", "--gamma", "1"], "there is no option --gamma (see --help)"),
        (["bound", "perceptron", "1"], "Got unexpected extra argument (1) (see --help)"),
        (
            ["bound", "occam", "--samples", "9", "--delta", "0.1"],
            "--log-hypotheses or --hypotheses must be given for occam",
        ),
        (
            ["bound", "halving", "--hypotheses", "9", "--log-hypotheses", "1"],
            "--log-hypotheses or --hypotheses must be given, but not both",
        ),
        (
            ["bound", "halving", "--hypotheses", "9" * 5000],
            "--hypotheses must be a whole number, at least 1; received inf",
        ),
        (
            ["sample-size", "vc", "--dimension", "2.5", "--error", "0.1", "--delta", "0.1"],
            "--dimension must be a whole",
        ),
        (["sample-size", "hoeffding", "--deviation", "1e-200", "--delta", "0.1"], "--deviation must be large enough"),
        (["bound", "--nonsense"], "there is no option --nonsense"),
    ],
)
def test_a_mistake_is_one_sentence(run_cli, arguments, message):
    result = run_cli(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("afterwit: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert run_cli(*arguments, "--json") == result


def test_a_mistake_in_a_real_process(run_process):
    result = run_process("sample-size", "ocam", "--error", "0.1")
    assert (result.returncode, result.stdout) == (2, "")
    assert (
        result.stderr
        == f"afterwit: there is no theorem 'ocam' among the {len(SAMPLE_SIZES)} here; did you mean occam?\n"
    )


@pytest.mark.parametrize(
    ("command", "name"), [("bound", n) for n in BOUNDS] + [("sample-size", n) for n in SAMPLE_SIZES]
)
def test_every_theorem_by_its_options(run_cli, command, name):
    entry = (BOUNDS if command == "bound" else SAMPLE_SIZES)[name]
    special = {"power": 3.0, "bits": 3.0, "margin": 0.25, "gamma": 0.25, "switches": 1}
    inputs, arguments = {}, []
    for each in entry.inputs:
        value = special.get(each.name, 3 if each.range.whole else 0.5)
        if each.alternative is not None:  # by the other name
            value = {"experts": 20, "assets": 20, "hypotheses": 20, "dimension": 4}[each.alternative.name]
            inputs[each.alternative.name] = value
            arguments += [f"--{each.alternative.name}", str(value)]
        else:
            inputs[each.name] = value
            arguments += [f"--{each.name.replace('_', '-')}", str(value)]
    shown = run_cli(command, name, *arguments).stdout
    expected = entry(**inputs)
    result = re.search(r"^ +\S*.*= ([\d.e+-]+)(?: \(the \w+ whole number\))?(?:,.*|:.*)?\n  with ", shown, re.MULTILINE)
    assert float(result.group(1)) == pytest.approx(expected, rel=1e-5)
    assert entry.citation in " ".join(shown.split())
    help_text = run_cli(command, name, "--help").stdout
    for each in entry.inputs:
        assert f"--{each.name.replace('_', '-')} " in help_text
    assert math.isfinite(expected)
    found = only_json(run_cli(command, name, *arguments, "--json"))
    evaluation = entry.evaluate(**inputs)
    assert (found["value"], found["inputs"]) == (expected, dict(evaluation.inputs))
    assert (found["quantity"], found["vacuous"]) == (evaluation.quantity, evaluation.vacuous)
    assert f"= {found['substituted']}" in re.sub(r"\n\s+", " ", shown).replace("  ", " ")
    for text in (found["rounding"], *(found["theorem"][key] for key in ("id", "citation", "chance", "needs"))):
        assert text in " ".join(shown.split())


def test_an_infinite_bound_is_null_in_json(run_process):
    arguments = ("bound", "perceptron", "--radius", "1", "--margin", "1e-200")
    assert evaluate("perceptron", radius=1, margin=1e-200).value == math.inf
    found = only_json(run_process(*arguments, "--json"))
    assert (found["value"], found["inputs"]) == (None, {"radius": 1.0, "margin": 1e-200})


def test_json_may_stand_before_the_name(run_cli):
    arguments = ("vc", "--dimension", "10", "--error", "0.1", "--delta", "0.05")
    before, after = run_cli("sample-size", "--json", *arguments), run_cli("sample-size", *arguments, "--json")
    assert before == after
    found = only_json(before)
    assert found["value"] == 2275
    assert found["inputs"] == {"vc_dimension": 11, "error": 0.1, "delta": 0.05}


@pytest.mark.parametrize(("command", "theorems"), [("bound", BOUNDS), ("sample-size", SAMPLE_SIZES)])
def test_the_list_in_json(run_cli, command, theorems):
    listed = only_json(run_cli(command, "--list", "--json"))["theorems"]
    assert [each["id"] for each in listed] == list(theorems)
    for found, theorem in zip(listed, theorems.values(), strict=True):
        assert (found["name"], found["inequality"]) == (theorem.name, theorem.inequality)
        assert (found["citation"], found["needs"]) == (theorem.citation, theorem.needs)
        assert found["formula"] == theorem.in_symbols
        for each, expected in zip(found["inputs"], theorem.inputs, strict=True):
            other = each["alternative"]
            assert (each["name"], *([other["name"]] if other else [])) == expected.names
            assert (each["symbol"], each["meaning"]) == (expected.symbol, expected.meaning)
            assert (each["allowed"], each["default"]) == (expected.range.allowed, expected.default)


def test_json_of_nothing_is_refused(run_cli):
    for command in ("bound", "sample-size"):
        result = run_cli(command, "--json")
        expected = (
            "afterwit: --json must be given together with --list or the name of a theorem; received --json alone\n"
        )
        assert (result.returncode, result.stdout, result.stderr) == (2, "", expected)


def test_without_a_name_there_is_help(run_cli):
    result = run_cli("bound")
    assert result.returncode == 0
    assert "perceptron" in result.stdout
    assert "sample-size" in run_cli().stdout


def options_of(entry):
    parts = []
    for each in entry.inputs:
        names = " or ".join(f"`--{name.replace('_', '-')}`" for name in each.names)
        parts.append(names if each.default is None else f"{names} ({each.default:g})")
    return ", ".join(parts)


def test_every_theorem_and_every_option_is_documented():
    """The rows of the page are those of the registry."""
    for entry in (*BOUNDS.values(), *SAMPLE_SIZES.values()):
        statement = entry.inequality.replace("|", "\\|")
        assert f"| `{entry.id}` | `{statement}` | {options_of(entry)} | {entry.citation} |" in PAGE
