"""Frozen predictors on the command line."""

import numpy as np

import afterwit as aw


def test_predict_takes_a_frozen_predictor(run_cli, tmp_path):
    stream = aw.adversaries.separable(300, 4, margin=0.1, seed=1)
    X = np.round(stream.X, 6)
    lines = (f"{y} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, y in zip(X, stream.y, strict=True))
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    predictor = aw.batch.large_gap(aw.Perceptron(), aw.streams.LibsvmStream(tmp_path / "data.svm"), epsilon=0.2)
    aw.save(predictor, tmp_path / "model")
    result = run_cli("predict", "model", "data.svm", "--predictions", "out.txt")
    assert result.returncode == 0, result.stderr
    predicted = [predictor.predict_one(x) for x, _ in aw.streams.LibsvmStream(tmp_path / "data.svm")]
    assert [int(line) for line in (tmp_path / "out.txt").read_text().split()] == predicted
    wrong = np.count_nonzero(np.array(predicted) != stream.y)
    assert f"300 examples, {wrong} mistakes" in result.stdout
