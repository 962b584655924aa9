"""Install a wheel or an sdist into an empty environment and try it there: ``python .ci/smoke.py FILE``."""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

TRIAL = """
import afterwit as aw

assert aw.compiled, "it is not compiled"
X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]], [-1, -1, 1]
learner = aw.Perceptron()
learner.learn_many(X, y)
assert (learner.rounds, learner.mistakes) == (3, 2), (learner.rounds, learner.mistakes)
certificate = learner.certificate(X, y)
assert certificate.verdict == "holds", certificate
aw.save(learner, "model")
assert aw.load("model") == learner
"""


def main(file):
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "Scripts" if sys.platform == "win32" else "bin")

        def run(program, *arguments):
            command = [str(programs / program), *arguments]
            return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout

        run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(Path(file).resolve()))
        run("python", "-c", TRIAL)
        assert "hindsight" in run("afterwit", "demo")
        print(f"{file}: {run('afterwit', '--version').strip()} works in an empty environment")


if __name__ == "__main__":
    main(sys.argv[1])
