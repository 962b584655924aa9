"""The command line: most of it in this process, and as a real one where only that can show it."""

import gzip
import importlib
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import afterwit as aw
from afterwit import adversaries
from afterwit.cli import COMMANDS
from afterwit.core.registry import classifier_names, expert_algorithm_names, regressor_names
from conftest import environment


def write_libsvm(path, X, y):
    lines = (
        f"{label} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value)
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def stream():
    made = adversaries.label_noise(adversaries.separable(300, 5, margin=0.1, seed=0), 0.05, seed=0)
    made.X = np.round(made.X, 4)
    return made


@pytest.fixture
def data(tmp_path, stream):
    return write_libsvm(tmp_path / "data.svm", stream.X, stream.y)


def learned(stream, passes=1, labels=(-1, 1)):
    """The same in Python; ids in the file start at 1, so position 0 stays empty."""
    learner = aw.Perceptron(labels=labels)
    X = aw.streams.as_ids(stream.X, 1)
    predictions = None
    for _ in range(passes):
        predictions = learner.learn_many(X, np.where(stream.y > 0, labels[1], labels[0]))
    return learner, predictions, X


def table(output):
    rows = re.findall(r"^ +([\d,]+) +([\d,]+) +([\d.]+)% +([\d.]+)% +([\d,]+)$", output, re.MULTILINE)
    return [tuple(float(cell.replace(",", "")) for cell in row) for row in rows]


def test_a_run_shows_the_table_and_the_certificate(run_process, data, stream):
    result = run_process("run", "data.svm", "--learner", "perceptron")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    learner, predictions, X = learned(stream)
    rows = table(result.stdout)
    assert [row[0] for row in rows] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    wrong = np.cumsum(predictions != stream.y)
    assert [row[1] for row in rows] == [wrong[int(row[0]) - 1] for row in rows]
    assert rows[-1][2] == pytest.approx(100 * learner.mistakes / 300, abs=0.01)
    assert rows[-1][4] == 5
    # Printed exactly as Python prints it, but for positions that never occur.
    certificate = learner.certificate(X, stream.y)
    hint = f"(--verbose shows the theorem, its assumptions and {len(certificate.others)} other bounds)"
    assert result.stdout.endswith(f"\n\n{certificate}\n{hint}\n")
    assert "hindsight" in result.stdout


def test_the_full_certificate_on_request(run_cli, data, stream):
    learner, _, X = learned(stream)
    short = run_cli("run", "data.svm", "--learner", "perceptron").stdout
    full = run_cli("run", "data.svm", "--learner", "perceptron", "--verbose").stdout
    details = learner.certificate(X, stream.y).details()
    assert full.endswith(f"\n\n{details}\n")
    assert details not in short
    assert short.partition("\n\nPerceptron")[0] == full.partition("\n\nPerceptron")[0]


def test_gzip_standard_input_and_repetition_agree(run_cli, run_process, data, tmp_path):
    (tmp_path / "packed.gz").write_bytes(gzip.compress(data.read_bytes()))
    plain = run_cli("run", "data.svm", "--passes", "3").stdout
    packed = run_cli("run", "packed.gz", "--passes", "3").stdout
    piped = run_process("run", "-", "--passes", "3", stdin=data.read_text()).stdout
    bounded = run_cli("run", "data.svm", "--passes", "3", "--no-certificate").stdout
    assert plain.replace("data.svm", "X") == packed.replace("packed.gz", "X") == piped.replace("standard input", "X")
    assert plain == run_cli("run", "data.svm", "--passes", "3").stdout
    assert plain.startswith(bounded.rstrip("\n"))
    assert "verdict" not in bounded
    assert table(plain)[-1][0] == 900


def test_the_model_and_the_predictions(run_cli, data, tmp_path, stream):
    result = run_cli(
        "run", "data.svm", "--learner", "perceptron", "--passes", "2", "--model", "m", "--predictions", "p.txt"
    )
    assert result.returncode == 0
    learner, predictions, X = learned(stream, passes=2)
    assert aw.load(tmp_path / "m") == learner
    assert (tmp_path / "p.txt").read_text() == "".join(f"{label}\n" for label in predictions)
    assert sorted(os.listdir(tmp_path)) == ["data.svm", "m", "p.txt"]
    again = run_cli("predict", "m", "data.svm", "--predictions", "q.txt")
    assert again.returncode == 0, again.stderr
    expected = learner.predict_many(X)
    assert (tmp_path / "q.txt").read_text() == "".join(f"{label}\n" for label in expected)
    mistakes = int((expected != stream.y).sum())
    assert again.stdout == f"300 examples, {mistakes} mistakes, error rate {mistakes / 300:.2%}\n"
    assert run_cli("predict", "m", "-", stdin=data.read_text()).stdout == again.stdout


@pytest.mark.parametrize(
    ("labels", "option", "expected"),
    [
        ((-1, 1), (), (-1, 1)),
        ((0, 1), (), (0, 1)),
        ((1, 2), (), (1, 2)),
        ((0.5, 3), (), (0.5, 3)),
        ((1, -1), ("--labels", "1,-1"), (1, -1)),
    ],
)
def test_labels_are_found_out_or_given(run_cli, tmp_path, stream, labels, option, expected):
    write_libsvm(tmp_path / "f", stream.X, np.where(stream.y > 0, labels[1], labels[0]))
    result = run_cli("run", "f", "--learner", "perceptron", "--model", "m", "--no-certificate", *option)
    assert result.returncode == 0, result.stderr
    assert aw.load(tmp_path / "m") == learned(stream, labels=expected)[0]
    assert f"labels {expected[0]} and {expected[1]}" in result.stdout


def test_labels_that_come_late_are_waited_for(run_cli, tmp_path):
    lines = ["0 1:1"] * 1000 + ["1 2:1"] * 30
    (tmp_path / "f").write_text("\n".join(lines))
    result = run_cli("run", "f")
    assert result.returncode == 0
    rows = table(result.stdout)
    assert [row[0] for row in rows] == [2**k for k in range(11)] + [1030]
    assert [row[4] for row in rows] == [1] * 10 + [2, 2]
    alone = run_cli("run", "-", stdin="1 1:1\n1 2:1\n")
    assert "labels -1 and 1" in alone.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no examples were found"),
        (b"# only this\n\n", "no examples were found"),
        (b"1 1:1\n-1 x:2\n", "line 2: found 'x:2' where a feature as id:value (ids"),
        (
            b"1 1:1\n\n# c\n-1 2:2\n\n" + b"1 1:1\n" * 2000 + b"3 1:1\n",
            "line 2006: found the label 3 where -1 or 1 was",
        ),
        (b"1 1:1\n" * 3000 + b"-1 1:1\n7 1:1\n", "line 3002: found the label 7 where -1 or 1 was expected"),
        (b"7 1:1\n7 2:1\n", "all labels are 7; give the two labels with --labels, such as --labels 0,7"),
        (b"a,b,c\n1,2,3\n", "--target names the column to predict; the columns are a, b, c"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1: UTF-8 text was expected, found other bytes"),
        (gzip.compress(b"1 1:1\n-1 2:1\n" * 9999)[:-20], "the gzip data is truncated or corrupt"),
    ],
)
@pytest.mark.parametrize("from_stdin", [False, True])
def test_bad_input_is_one_sentence_and_leaves_nothing(run_cli, tmp_path, content, message, from_stdin):
    (tmp_path / "bad").write_bytes(content)
    (tmp_path / "m").write_text("precious")
    arguments = ("--model", "m", "--predictions", "p")
    if from_stdin:
        result = run_cli("run", "-", *arguments, stdin=content)
        stderr = result.stderr.decode()
    else:
        result = run_cli("run", "bad", *arguments)
        stderr = result.stderr
    assert result.returncode == 2
    assert stderr.startswith(f"afterwit: {'standard input' if from_stdin else 'bad'}")
    assert message in stderr
    assert stderr.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["bad", "m"]
    assert (tmp_path / "m").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nothing"), "nothing: there is no such file"),
        (("run", "*.csv"), "*.csv: no file has a name like that"),
        (("run", "data.svm", "--sql", "SELECT 1"), "FILE and --sql exclude each other"),
        (("run", "data.svm", "--target", "y"), "target must be left out, because libsvm text has its own labels"),
        (("run", "data.svm", "--save-every", "9"), "--save-every must be given together with --model OUT"),
        (("run", "data.svm", "--scores", "-", "--predictions", "-"), "--scores must be a file, because --predictions"),
        (("run", "data.svm", "--learner", "online-ridge", "--task", "classes"), "--learner must be one of many labels"),
        (("run", "data.svm", "--model", "no/where"), "no/where: cannot be written"),
        (("run", "data.svm", "--model", "."), "cannot be written (it is not a regular file)"),
        (("run", "data.svm", "--predictions", "no/where"), "no/where: cannot be written"),
        (
            ("run", "data.svm", "--labels", "a,b"),
            "labels must be numbers, because the labels of libsvm text are numbers",
        ),
        (("run", "data.svm", "--labels", "1"), "--labels must be two different labels"),
        (("run", "data.svm", "--labels", "1,1"), "--labels must be two different labels"),
        (("run", "data.svm", "--labels", "nan,1"), "--labels must be two"),
        (("run", "data.svm", "--labels", "5,6"), "data.svm, line 1: found the label"),
        (("run", "data.svm", "--passes", "0"), "--passes"),
        (("run", "data.svm", "--model", ""), "--model must be a file name"),
        (("run", ""), "FILE must be a file name"),
        (("run", "data.svm", "--model", "data.svm"), "--model must be a different file from FILE"),
        (("run", "data.svm", "--predictions", "./data.svm"), "--predictions must be a different file from FILE"),
        (("run", "data.svm", "--predictions", "o", "--model", "o"), "must be a different file from --model"),
        (("run", "data.svm", "--model", "/dev/null"), "/dev/null: cannot be written (it is not a regular file)"),
        (("run", "data.svm", "--labels", "inf,1"), "--labels must be two"),
        (("predict", "m", "data.svm", "--predictions", "m"), "--predictions must be a different file from MODEL"),
        (("run", "data.svm", "--passes", "x"), "--passes"),
        (("run", "data.svm", "--colour"), "--colour"),
        (("run",), "FILE"),
        (("run", "data.svm", "--model", "-"), "--model must be a file name"),
        (("fly",), "fly"),
        (("predict", "data.svm", "data.svm"), "is not a readable afterwit model file"),
        (("predict", "nothing", "data.svm"), "nothing: there is no such file"),
    ],
)
def test_mistakes_of_the_user(run_cli, data, tmp_path, arguments, message):
    result = run_cli(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.startswith("afterwit: ")
    assert result.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["data.svm"]


def test_predict_leaves_foreign_labels_out(run_cli, data, tmp_path):
    run_cli("run", "data.svm", "--model", "m", "--no-certificate")
    result = run_cli("predict", "m", "-", stdin="0 1:1\n7 1:1\n")
    assert result.stdout.startswith("not counted: 2 examples with a label that is neither -1 nor 1\npredictions\n  ")
    assert len(result.stdout.splitlines()) == 4
    mixed = run_cli("predict", "m", "-", stdin="0 1:1\n1 \n").stdout
    assert mixed.splitlines()[0] == "1 example, 0 mistakes, error rate 0.00%"


def test_predict_writes_probabilities(run_cli, data, tmp_path, stream):
    assert run_cli("run", "data.svm", "--learner", "adagrad", "--model", "m").returncode == 0
    result = run_cli("predict", "m", "data.svm", "--probabilities", "p.csv")
    learner = aw.load(tmp_path / "m")
    head, *lines = (tmp_path / "p.csv").read_text().splitlines()
    found = np.array([[float(each) for each in line.split(",")] for line in lines])
    X, y = aw.read_libsvm(data)
    assert head == "-1,1"
    assert found.tolist() == learner.predict_proba_many(X).tolist()
    loss = -np.log(np.where(y > 0, found[:, 1], found[:, 0])).mean()
    assert result.stdout.endswith(f", log loss {loss:.4g} per example\n")


def test_predict_writes_probabilities_of_many_classes(run_cli, tmp_path):
    (tmp_path / "f").write_text("3 1:1\n1 2:1\n2 3:1\n" * 5)
    learner = aw.OneVsRest(aw.AdaGrad())
    learner.learn_many(*aw.read_libsvm(tmp_path / "f"))
    aw.save(learner, tmp_path / "m")
    result = run_cli("predict", "m", "f", "--probabilities", "p.csv")
    assert (tmp_path / "p.csv").read_text().splitlines()[0] == "3,1,2"
    assert result.stdout.startswith("15 examples, 0 mistakes, error rate 0.00%, log loss 0.")


def test_probabilities_of_a_model_that_has_none(run_cli, data, tmp_path):
    run_cli("run", "data.svm", "--model", "m", "--learner", "perceptron")
    result = run_cli("predict", "m", "data.svm", "--probabilities", "p.csv", "--predictions", "q")
    assert result.returncode == 2
    assert result.stderr.startswith("afterwit: m: Perceptron gives no probabilities: its score is none. ")
    assert sorted(os.listdir(tmp_path)) == ["data.svm", "m"]
    same = run_cli("predict", "m", "data.svm", "--probabilities", "q", "--predictions", "q")
    assert (same.returncode, "a different file from --predictions" in same.stderr) == (2, True)


@pytest.mark.parametrize("scale", ["1e160", "1e300"])
def test_numbers_whose_products_overflow_are_refused_with_their_round(run_cli, tmp_path, scale):
    (tmp_path / "f").write_text(f"1 1:{scale}\n-1 2:{scale}\n-1 1:-{scale} 2:{scale}\n")
    result = run_cli("run", "f", "--learner", "perceptron", "--model", "m")
    assert result.returncode == 2
    assert "afterwit: round 3 would make a score or a weight of Perceptron infinite or NaN; " in result.stderr
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("scale", ["1e-100", "1e-12", "1e12", "1e150"])
def test_numbers_of_any_size_are_certified(run_cli, tmp_path, scale):
    (tmp_path / "f").write_text(f"1 1:{scale}\n-1 2:{scale}\n-1 1:-{scale} 2:{scale}\n")
    result = run_cli("run", "f")
    assert (result.returncode, result.stderr) == (0, "")
    assert "verdict    holds" in result.stdout


def test_numbers_whose_products_vanish_are_not_certified(run_cli, tmp_path):
    (tmp_path / "f").write_text("1 1:1e-200\n-1 2:1e-200\n-1 1:-1e-200 2:1e-200\n")
    result = run_cli("run", "f", "--learner", "perceptron")
    assert (result.returncode, result.stderr) == (0, "")
    assert "  verdict    not applicable\n  because    row 2 was not treated by the rule" in result.stdout


def test_a_far_id_is_no_trouble(run_cli):
    result = run_cli("run", "-", stdin="1 20000000:1\n-1 1:1\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert table(result.stdout)[-1][4] == 2


def test_the_old_file_keeps_its_permissions_and_its_links(run_cli, data, tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to("real")
    assert run_cli("run", "data.svm", "--predictions", "link", "--no-certificate").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text().count("\n") == 300
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600


def test_output_that_cannot_be_written_is_not_blamed_on_the_results(data):
    with open("/dev/full", "w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "afterwit", "run", "data.svm", "--model", "m"],
            cwd=data.parent,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (process.returncode, process.stderr) == (
        2,
        "afterwit: standard output: cannot be written (No space left on device)\n",
    )
    assert os.listdir(data.parent) == ["data.svm"]


def test_predict_says_when_there_is_nothing(run_cli, data, tmp_path):
    run_cli("run", "data.svm", "--model", "m")
    (tmp_path / "empty").write_text("# nothing\n")
    result = run_cli("predict", "m", "empty", "--predictions", "p")
    assert (result.returncode, result.stderr) == (2, "afterwit: empty: no examples were found\n")
    assert sorted(os.listdir(tmp_path)) == ["data.svm", "empty", "m"]


def test_many_rows_that_are_read_once_have_no_certificate(run_cli, data, monkeypatch):
    monkeypatch.setattr(importlib.import_module("afterwit.cli.run"), "MOST_TO_REMEMBER", 100)
    reason = (
        "No certificate: it needs all examples, there are more than 100 non-zero values to keep, and standard input"
    )
    assert reason in run_cli("run", "-", "--learner", "perceptron", stdin=data.read_text()).stdout
    assert "verdict    holds" in run_cli("run", "data.svm", "--learner", "perceptron").stdout


def test_a_large_file_is_read_again_for_its_certificate(run_cli, data, monkeypatch):
    whole = run_cli("run", "data.svm", "--learner", "perceptron").stdout
    monkeypatch.setattr(importlib.import_module("afterwit.cli.run"), "MOST_TO_REMEMBER", 100)
    monkeypatch.setattr(importlib.import_module("afterwit.core.sources"), "MOST_IN_MEMORY", 100)
    again = run_cli("run", "data.svm", "--learner", "perceptron").stdout
    assert "verdict    holds" in again
    assert again.partition("\n\nPerceptron")[0] == whole.partition("\n\nPerceptron")[0]


def test_results_do_not_overwrite_what_standard_input_reads(data):
    with data.open() as file:
        process = subprocess.run(
            [sys.executable, "-m", "afterwit", "run", "-", "--model", "data.svm"],
            cwd=data.parent,
            env=environment(),
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert process.returncode == 2
    assert "--model must be a different file from FILE" in process.stderr


def test_links_in_a_circle(run_cli, data, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    result = run_cli("run", "data.svm", "--model", "loop")
    assert result.returncode == 2
    assert result.stderr.startswith("afterwit: loop: cannot be written")


def test_the_model_is_safe_before_looking_back(run_cli, data, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module("afterwit.cli.run"), "_certify", fail)
    assert run_cli("run", "data.svm", "--model", "m").returncode == 130
    assert aw.load(data.parent / "m").rounds == 300


def test_predict_with_a_learner_of_names(run_cli, data, tmp_path):
    learner = aw.Perceptron()
    learner.learn_one({"a": 1}, 1)
    aw.save(learner, tmp_path / "named")
    result = run_cli("predict", "named", "data.svm")
    assert result.stderr == (
        "afterwit: named: the features of this model have names, but the features of a libsvm file are numbers\n"
    )
    odd = aw.Perceptron(labels=((0, "a"), (1, "b")))
    odd.learn_one([1.0], (1, "b"))
    aw.save(odd, tmp_path / "odd")
    assert run_cli("predict", "odd", "data.svm", "--first-id", "1").stdout.startswith(
        "not counted: 300 examples with a label"
    )


def test_a_hang_up_that_is_ignored_stays_ignored(tmp_path):
    code = "import signal, os; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(os.sys.executable, [os.sys.executable, '-m', 'afterwit', 'run', '-', '--no-certificate'])"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("1 1:1\n-1 2:1\n")
    process.stdin.flush()
    while not process.stdout.readline().strip().startswith("2 "):
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    process.communicate("1 1:1\n", timeout=60)
    assert process.returncode == 0


def test_version_and_help(run_process, run_cli):
    how = "compiled" if aw.compiled else "interpreted"
    assert run_process("--version").stdout.startswith(f"afterwit {aw.__version__} ({how}")
    assert run_cli().stdout == run_cli("--help").stdout
    for command in ((), *((name,) for name in COMMANDS)):
        result = run_cli(*command, "--help")
        assert result.returncode == 0
        assert result.stdout.startswith(" ".join(("Usage: afterwit", *command, "")))


def test_the_help_lists_every_learner_and_every_algorithm(run_cli):
    for command, names in (("run", {**classifier_names(), **regressor_names()}), ("experts", expert_algorithm_names())):
        shown = re.sub(r"\s", "", run_cli(command, "--help").stdout)
        assert ",".join(sorted(names)) in shown


@pytest.mark.installed_only
def test_the_installed_command(data):
    command = Path(sysconfig.get_path("scripts")) / "afterwit"
    result = subprocess.run([command, "run", "data.svm"], cwd=data.parent, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "verdict    holds" in result.stdout


def test_a_mistake_in_a_real_process(run_process):
    result = run_process("run", "nothing")
    assert (result.returncode, result.stdout, result.stderr) == (2, "", "afterwit: nothing: there is no such file\n")


def test_the_demo(run_process, run_cli):
    result = run_process("demo")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("verdict    holds") == 2
    assert "What the three numbers mean" in result.stdout
    assert result.stdout == run_cli("demo").stdout
    assert "margin bound: not applicable" in run_cli("demo", "--verbose").stdout


def start(arguments, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "afterwit", *arguments],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run under nohup would hand on that hang-ups are to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )


def test_a_live_pipe_is_learned_from_as_it_comes(tmp_path):
    process = start(["run", "-", "--no-certificate"], tmp_path)
    process.stdin.write("1 1:1\n-1 2:1\n")
    process.stdin.flush()
    lines = [
        process.stdout.readline() for _ in range(5)
    ]  # title, blank, header, rounds 1 and 2: the pipe is still open
    assert lines[-1].split()[0] == "2"
    out, err = process.communicate("1 1:1\n", timeout=60)
    assert out.split()[0] == "3"
    assert (process.returncode, err) == (0, "")


def test_ctrl_c_while_the_command_line_is_imported_is_no_traceback():
    program = """if True:
        import os, signal, sys

        class Interrupted:
            def find_spec(self, name, path=None, target=None):
                if name == "click":
                    os.kill(os.getpid(), signal.SIGINT)

        sys.meta_path.insert(0, Interrupted())
        from afterwit._start import start
        start()
    """
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "afterwit: interrupted\n")


def test_ctrl_c_while_a_command_is_imported_is_no_error_of_the_import():
    """numpy makes a KeyboardInterrupt that comes while it is imported an ImportError."""
    program = """if True:
        import importlib, os, signal
        from afterwit.cli import main

        def interrupted(name):
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise ImportError(name) from None

        importlib.import_module = interrupted
        main(["run"])
    """
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "afterwit: interrupted\n")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_leaves_nothing(tmp_path, sent):
    process = start(["run", "-", "--predictions", "p", "--model", "m"], tmp_path)
    process.stdin.write("1 1:1\n-1 2:1\n")
    process.stdin.flush()
    while not process.stdout.readline().strip().startswith("2 "):
        time.sleep(0.01)
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == []


def test_a_reader_that_leaves_is_no_error_worth_a_traceback(tmp_path, data):
    process = start(["run", "data.svm", "--passes", "50"], data.parent)
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode in (0, 1)


def test_on_a_terminal_there_is_a_bar_and_it_goes_away(data):
    import pty

    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "afterwit", "run", "data.svm", "--passes", "200"],
        cwd=data.parent,
        env={**environment(), "TERM": "xterm", "COLUMNS": "100", "LINES": "40"},
        stdin=end,
        stdout=end,
        stderr=end,
    )
    os.close(end)
    output = b""
    try:
        while chunk := os.read(terminal, 65536):
            output += chunk
    except OSError:  # how Linux reports that the other end is closed
        pass
    os.close(terminal)
    assert process.wait(60) == 0
    text = output.decode()
    assert "━" in text, "no bar was drawn"
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n")
    assert "verdict    holds" in plain
    assert len(table(plain)) == 17
