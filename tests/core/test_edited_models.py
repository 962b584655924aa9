"""Edited model files: whatever a learner relies on is checked when it is loaded, in one sentence with file and field."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import afterwit as aw
from afterwit.core import registry
from afterwit.core.storage import HEADER, NOT_LEARNERS
from afterwit.errors import ModelFileError

CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "models"


def edited(tmp_path, name, field, value, part="state"):
    """A model of the corpus with another value of one field: plain data, a function of what was there, or an array."""
    with zipfile.ZipFile(CORPUS / f"{name}.model") as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    header = json.loads(members[HEADER])
    pair = next(pair for pair in header[part]["$dict"] if pair[0] == field)
    if isinstance(value, np.ndarray) or (callable(value) and isinstance(pair[1], dict) and "$array" in pair[1]):
        if callable(value):
            value = value(np.load(io.BytesIO(members[f"{pair[1]['$array']['name']}.npy"])))
        file = io.BytesIO()
        np.save(file, value)
        members["edited.npy"] = file.getvalue()
        pair[1] = {"$array": {"name": "edited"}}
    else:
        pair[1] = value(pair[1]) if callable(value) else value
    members[HEADER] = json.dumps(header).encode()
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return tmp_path / "m"


def put(place, value):
    """A function that changes one entry of an array."""

    def change(array):
        array = array.copy()
        array.flat[place] = value
        return array

    return change


STATES = [
    ("PerGroup-forecasts", "groups", ["north", "north"], "groups must be a list of different names"),
    ("PerGroup-forecasts", "groups", ["north", None], "groups[1] must be a name that equals itself"),
    ("PerGroup-forecasts", "groups", ["north"], "learners must be one state for each of 1 group"),
    ("PerGroup-forecasts", "learners", [{"$dict": []}, {"$dict": []}], "state must be what state() of MLpol returns"),
    ("Perceptron-dense", "weights", put(0, np.nan), "weights must be finite numbers"),
    ("Perceptron-dense", "weights", put(1, np.inf), "weights must be finite numbers"),
    ("Perceptron-dense", "rounds", [], "rounds, mistakes and updates must be counts"),
    ("Perceptron-dicts", "names", [["a"]], "names must be a list of as many different names"),
    ("AdaGrad-csr", "squares", put(0, -1.0), "squares must be sums of squares, none below 0"),
    ("NormalizedAdaGrad-csr", "largest", put(0, -1.0), "largest must be numbers that are not negative"),
    ("NormalizedAdaGrad-csr", "norms", 0.5, "norms must be at least 1 once there was a value other than 0"),
    ("OnlineRidge-dense", "diagonal", put(0, 0.0), "diagonal must be positive numbers, none above that of a fresh"),
    ("OnlineRidge-csr", "diagonal", put(1, 2.0), "diagonal must be positive numbers, none above that of a fresh"),
    ("OnlineRidge-dicts", "factor", put(0, np.nan), "factor must be"),
    ("OnlineRidge-dicts", "factor", lambda array: array[1:], "factor must be a 1-D array of 10 numbers"),
    ("ConformalIntervals-dense", "errors", put(0, -1.0), "errors must be numbers from 0 to 1e+160"),
    ("ConformalIntervals-dense", "errors", lambda errors: errors[1:], "errors must be an array of 5 numbers"),
    ("ConformalIntervals-dense", "covered", 10**6, "covered, exact and infinite must be counts"),
    ("ConformalIntervals-csr", "growth", -0.5, "radius, largest_error and growth must be finite numbers"),
    ("ConformalIntervals-advice", "forecaster", 5, "forecaster must be a state after"),
    ("RegressionCommittee-csr", "members", [], "members must be a list of the states of 5"),
    ("RepeatLastTarget-dicts", "space", 3, "space must be None, 'names' or 'positions'"),
    ("SGD-dense", "scale", 0.0, "scale must be above 0 and at most 1"),
    ("SelectivePerceptron-dense", "asked", 1, "asked must be at least updates"),
    ("SelectivePerceptron-dense", "unlabelled", 40, "unlabelled must be at most the rounds without a question"),
    ("SelectivePerceptron-csr", "estimated_mistakes", 0.5, "estimated_mistakes must be at least 1 and at most 2^53"),
    ("MarginPerceptron-dense", "square", 0.5, "square must be that of the length of the weights"),
    ("Winnow-dense", "moved", 10**6, "moved must be the number of exponents other than 0"),
    ("Winnow-dense", "weights", put(0, 77.0), "weights must be the exponentials of the exponents"),
    ("BalancedWinnow-csr", "exponents", put(0, 1.7e308), "exponents must be numbers from -1e300 to 1e300"),
    ("VotedPerceptron-dense", "votes", put(0, 10**6), "votes must be counts that sum to"),
    (
        # The differences of these starts wrap around: they used to pass, and to read memory that is not there.
        "VotedPerceptron-dense",
        "starts",
        lambda starts: np.concatenate([starts[:1], [2**63 - 1, -(2**63)], starts[3:]]),
        "starts, places, entries and votes must be arrays that fit together",
    ),
    ("SoftThresholdNetwork-dense", "inner", put(0, np.nan), "inner must be finite numbers"),
    ("DecisionStump-dense", "stump", {"$tuple": [2**40, 0.5, 1]}, "stump must be of a feature below"),
    ("DecisionStump-dense", "stump", {"$tuple": [0, 0.5, 2]}, "stump must be a feature, a threshold and a sign"),
    ("DecisionStump-dense", "stump", None, "width must be 0 exactly before it was fitted"),
    ("DecisionStump-dicts", "names", ["a"], "names must be"),
    ("DecisionStump-dicts", "names", 5, "names must be"),
    ("Boosting-dense", "hypotheses", [1], "hypotheses[0] must be a DecisionStump that was fitted"),
    ("Boosting-dense", "width", 10**6, "hypotheses[0] must be a stump that was fitted to 1,000,000 columns"),
    ("Boosting-dicts", "names", [["a"]], "names must be"),
    ("ID3-dicts", "classes", [], "values and classes must be those of a sample"),
    ("ID3-dicts", "values", lambda values: [[*each, each[0]] for each in values], "values must be different strings"),
    ("ID3-dicts", "values", 5, "values must be different strings"),
    ("ID3-dicts", "classes", [[1]], "classes must be different strings"),
    ("ID3-dicts", "names", ["a", "a"], "names must be a different one for each feature"),
    ("ID3-dicts", "feature", put(0, 99), "the tree must be one that was grown on a sample"),
    ("ID3-dicts", "parent", put(1, 5), "the tree must be one that was grown on a sample"),
    ("ID3-dicts", "examples", put(1, 10**9), "the tree must be one that was grown on a sample"),
    ("ID3-dicts", "label", 7, "label must be an array of whole numbers"),
    ("DisjunctionLearner-dense", "uncovered", "x", "uncovered must be"),
    ("DisjunctionLearner-dicts", "names", [[]], "names must be a different one for each feature"),
    ("Halving-other", "alive", lambda alive: ~alive, "alive must be a set of hypotheses of the class"),
    ("OnlineDisjunction-dense", "weights", put(0, 3.0), "weights must be 0 or powers of 2"),
    ("KernelPerceptron-csr", "form", "what", "form must be one of dense, sparse, named"),
    ("KernelPerceptron-csr", "support", 3, "support must be sparse rows"),
    ("KernelPerceptron-csr", "coefficients", put(0, 0.5), "coefficients must be an array of -1.0 and 1.0"),
    ("AdaHedge-dense", "delta", -1.0, "delta must be a finite number that is not negative"),
    ("BOA-dense", "squares", put(0, -1.0), "squares must be numbers that are not negative"),
    ("MLpol-dense", "largest_square", -2.0, "largest_square must be a finite number that is not negative"),
    ("MLpol-dense", "names", ["a", "a"], "names must be"),
    ("ExponentialWeights-dense", "cumulative", put(0, np.inf), "cumulative must be finite numbers"),
    ("FixedShare-dense", "probabilities", put(0, 9.0), "probabilities must be positive numbers that sum to 1"),
    ("SwapRegret-dense", "copies", lambda copies: [5, *copies[1:]], "state must be what state() of"),
    ("OnlineShortestPath-diamond", "totals", put(0, 1e9), "totals must be one sum of"),
    ("Committee-dense", "weighting", 5, "weighting must be a state after"),
    ("Committee-dense", "members", lambda members: [5, *members[1:]], "must be a state after"),
    ("OneVsRest-dense", "learners", lambda learners: learners[1:], "learners must be one state for each of"),
    ("OneVsRest-dense", "learners", lambda learners: [5, *learners[1:]], "learners[0] must be a state after"),
    ("OneVsRest-dense", "classes", [[1], [2]], "classes must be a list of different labels"),
    ("MulticlassPerceptron-dicts", "classes", ["dog"], "weights must be an array with a column for each of 1 classes"),
    ("MulticlassPerceptron-dicts", "classes", [[1], [2]], "classes must be a list of different labels"),
    ("MulticlassPerceptron-dense", "classes", ["dog"], "classes must be a list of different labels, where no labels"),
    ("MulticlassPerceptron-dense", "weights", lambda weights: weights.reshape(-1), "weights must be a 2-D array"),
    ("MulticlassPerceptron-csr", "rounds", 1, "rounds, mistakes and updates must be counts"),
    ("SoftmaxAdaGrad-csr", "squares", lambda squares: -squares, "squares must be sums of squares, none below 0"),
    ("NearestNeighbours-csr", "places", lambda places: places + 9, "arrays that fit together"),
    ("NearestNeighbours-dense", "codes", lambda codes: codes + 9, "arrays that fit together"),
    ("NearestNeighbours-dicts", "known", 7, "known must be the number of classes, 3"),
    ("MulticlassCommittee-dense", "members", lambda members: [5, *members[1:]], "must be a state after"),
    ("MulticlassStandardize-csr", "moments", 5, "moments must be a state after"),
    ("AveragedMulticlassPerceptron-csr", "moments", lambda moments: moments[1:], "moments must be as many numbers"),
    ("RepeatLastLabel-other", "last", 5, "last must be -1, 0 or 1"),
]
PARAMETERS = [
    ("FrozenPredictor-dense", "procedure", 5, "procedure must be the name of a function"),
    ("FrozenPredictor-dense", "certificate", {"$dict": [["theorem", "none"]]}, "certificate: theorem must be the name"),
    ("Halving-other", "hypotheses", {"$class": 5}, "hypotheses must be a class as data"),
    ("KernelPerceptron-csr", "kernel", {"$kernel": ["what"]}, "kernel must be a kernel as data"),
    ("PerGroup-forecasts", "learner", 5, "learner must be a learner, with learn_one"),
    ("ConformalIntervals-dense", "forecaster", 5, "forecaster must be a regressor"),
    ("SwapRegret-dense", "base", 5, "base must be a fresh expert algorithm"),
    ("Boosting-dense", "weak_learner", {"$learner": {"learner": "Perceptron"}}, "Perceptron has no parameters"),
]


@pytest.mark.parametrize(
    ("name", "field", "value", "said"), STATES, ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_state_that_no_learner_can_be_in_is_refused(tmp_path, name, field, value, said):
    path = edited(tmp_path, name, field, value)
    with pytest.raises(ModelFileError) as caught:
        aw.load(path)
    assert str(caught.value).startswith(f"{path}: the contents are damaged (")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "field", "value", "said"), PARAMETERS)
def test_parameters_that_no_learner_can_have_are_refused(tmp_path, name, field, value, said):
    path = edited(tmp_path, name, field, value, "parameters")
    with pytest.raises(ModelFileError) as caught:
        aw.load(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_every_class_has_a_file_that_an_earlier_version_saved():
    known = {*registry.classes(*registry.ROLES), *NOT_LEARNERS}
    files = list(CORPUS.glob("*.model"))
    assert {path.name.partition("-")[0] for path in files} == known
    assert {type(aw.load(path)).__name__ for path in files} == known


def test_what_load_would_refuse_save_refuses(tmp_path):
    learner = aw.WinnowDisjunction(2)
    learner.learn_one([1.0, 0.0], -1)
    learner._weights[0] = np.nan
    with pytest.raises(aw.errors.InputError, match="a learner with the number nan in it cannot be saved"):
        aw.save(learner, tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": NaN}', "is not a readable afterwit model file"),
        ('{"format": 1e999}', "is not a readable afterwit model file"),
        ("[" * 100_000, "is not a readable afterwit model file"),
        ("5", "is not an afterwit model file"),
    ],
)
def test_headers_that_are_no_json_of_ours(tmp_path, text, said):
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.writestr(HEADER, text)
    with pytest.raises(ModelFileError, match=said):
        aw.load(tmp_path / "m")
