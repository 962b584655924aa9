"""Models over finite classes and of disjunctions, used on the command line."""

import afterwit as aw
from afterwit.concepts import monotone_disjunctions

LINES = "+1 1:1 3:1\n-1 2:1\n+1 1:1\n-1 2:1 3:1\n"


def test_saved_models_predict_files_of_zeros_and_ones(run_cli, tmp_path):
    (tmp_path / "data.svm").write_text(LINES)
    (tmp_path / "numbers.svm").write_text("+1 1:1 3:1\n-1 2:0.5\n")
    stream = aw.streams.LibsvmStream(str(tmp_path / "data.svm"))
    refusals = {
        "disjunction": "X[1, 2] must be 0 or 1; received 0.5",
        "halving": "X[1] must be a point of the class: (0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), ... (16 in all); "
        "received (0.0, 0.0, 0.5, 0.0)",
    }
    learners = {"disjunction": aw.OnlineDisjunction(), "halving": aw.Halving(monotone_disjunctions(4), "examples")}
    for name, learner in learners.items():
        aw.play(learner, stream)
        aw.save(learner, tmp_path / name)
        good = run_cli("predict", name, "data.svm")
        assert (good.returncode, good.stdout) == (0, "4 examples, 0 mistakes, error rate 0.00%\n")
        bad = run_cli("predict", name, "numbers.svm")
        assert bad.returncode != 0
        assert bad.stderr == f"afterwit: {refusals[name]}\n"
    refused = run_cli("run", "--learner", "halving", "data.svm")
    assert refused.returncode != 0
    assert "unknown learner 'halving'. Known: adagrad" in refused.stderr
