"""Crashes and hangs, tried in real processes: Ctrl-C, forks, threads that write, code of the user's that calls back."""

import faulthandler
import os
import signal
import subprocess
import sys
import textwrap

import pytest

import afterwit as aw
from afterwit.errors import BusyError
from conftest import INTERPRETED, environment


def run(code, timeout=60):
    """Run Python in a process of its own; a crash, a hang or a failed assertion is an error with what it printed."""
    # Coverage is not measured there: it has a lock of its own, which a fork can leave behind in the child.
    unmeasured = {name: value for name, value in environment().items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=unmeasured,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


@pytest.fixture
def watchdog():
    """A test that hangs ends the run, and says where it hung."""
    faulthandler.dump_traceback_later(120, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


# ---------------------------------------------------------------------- Ctrl-C

INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import afterwit as aw
from afterwit.data.values import same_value
from scipy import sparse

random = np.random.default_rng(0)

def interrupted(action, begun=lambda: True, after=0.1, most=0.6):
    '''Ctrl-C soon after it has begun. How long it takes to arrive is measured in work: other processes do not count.'''
    inside, sent = threading.Event(), []
    def press():
        inside.wait()
        while not begun():
            time.sleep(0.002)
        time.sleep(after)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    presser = threading.Thread(target=press)
    presser.start()
    try:
        inside.set()
        while True:
            action()
    except KeyboardInterrupt:
        waited = time.process_time() - sent[0]
        assert waited < most, f"Ctrl-C took {waited:.2f} s"
    presser.join()
"""

#: A learner, and a block of some seconds: what is slow to learn has fewer rows.
BLOCKS = {
    "linear, dense": ("aw.Perceptron()", "numbers(1_000_000, 6)"),
    "linear, sparse with an intercept": ("aw.SGD(intercept=True)", "sparse.csr_array(numbers(200_000, 20))"),
    "linear, scratch": ("aw.AdaGrad()", "numbers(600_000, 6)"),
    "linear, examples that are kept": ("aw.VotedPerceptron()", "numbers(40_000, 6)"),
    "linear, exponentials": ("aw.BalancedWinnow()", "numbers(600_000, 6)"),
    "network": ("aw.SoftThresholdNetwork(gates=(8, 8))", "numbers(2_000_000, 6)"),
    "kernel": ("aw.KernelPerceptron()", "numbers(30_000, 6)"),
    "kernel, function": ("aw.KernelPerceptron(lambda x, z: float(x @ z))", "numbers(4_000, 6)"),
    "committee": ("aw.Committee()", "numbers(400_000, 6)"),
    "one against the rest": ("aw.OneVsRest(aw.AdaGrad(), labels=(-1, 1))", "numbers(400_000, 6)"),
    "many labels": ("aw.AveragedMulticlassPerceptron()", "numbers(400_000, 6)"),
    "softmax": ("aw.SoftmaxAdaGrad()", "numbers(400_000, 6)"),
    "neighbours": ("aw.NearestNeighbours(window=100)", "numbers(400_000, 6)"),
    "many-class committee": ("aw.MulticlassCommittee([aw.SoftmaxAdaGrad(), aw.Perceptron()])", "numbers(400_000, 6)"),
    "disjunction": ("aw.WinnowDisjunction(6)", "(numbers(100_000, 6) > 0).astype(float)"),
    "last label": ("aw.OneVsRest(aw.RepeatLastLabel(), labels=(-1, 1))", "numbers(400_000, 6)"),
}


@pytest.mark.skipif(INTERPRETED, reason="the blocks are made for compiled loops")
@pytest.mark.parametrize("name", BLOCKS)
def test_interrupted_learning_is_that_of_the_rounds_before(name):
    """Ctrl-C used to arrive after all rows; a learner made of learners must not keep half a round either."""
    make, block = BLOCKS[name]
    run(f"""{INTERRUPTED}
def numbers(rows, width):
    return random.standard_normal((rows, width))
X = {block}
y = random.choice([-1, 1], X.shape[0])
learner = {make}
learner.learn_many(X[:10], y[:10])
interrupted(lambda: learner.learn_many(X, y), lambda: learner.rounds > 10)
passes, rest = divmod(learner.rounds - 10, len(y))
assert passes < 500 and learner.rounds > 10
twin = {make}
twin.learn_many(X[:10], y[:10])
for _ in range(passes):
    twin.learn_many(X, y)
twin.learn_many(X[:rest], y[:rest])
assert same_value(twin.state(), learner.state()), (twin, learner)
learner.learn_many(X[:10], y[:10])
""")


@pytest.mark.skipif(INTERPRETED, reason="the blocks are made for compiled loops")
@pytest.mark.parametrize(
    ("make", "learn", "rows", "width"),
    [
        ("aw.BOA(4)", "learner.learn_many(X, y)", 1_000_000, 4),
        ("aw.SwapRegret(aw.ExponentialWeights(12, rate=0.1))", "learner.observe_many(X * X / 99)", 200_000, 12),
        ("aw.ExponentialWeights(3000, rate=0.1)", "learner.observe_many(X * X / 99)", 3_000, 3000),
        ("aw.FollowThePerturbedLeader(4, loss_range=(0, 99))", "learner.observe_many(X * X)", 2_000_000, 4),
    ],
)  # fmt: skip
def test_interrupted_experts_have_learned_the_rounds_before(make, learn, rows, width):
    run(f"""{INTERRUPTED}
X = np.clip(random.standard_normal(({rows}, {width})), -9, 9)
y = X[:, 0]
learner, all_X, all_y = {make}, X, y
interrupted(lambda: {learn}, lambda: learner.rounds > 0)
passes, rest = divmod(learner.rounds, len(all_X))
assert 0 < learner.rounds and passes < 500
done, learner = learner, {make}
for _ in range(passes):
    {learn}
X, y = all_X[:rest], all_y[:rest]
if rest:
    {learn}
assert same_value(done.state(), learner.state()), (done, learner)
""")


@pytest.mark.skipif(INTERPRETED, reason="the blocks are made for compiled loops")
def test_interrupted_names_are_those_of_the_rounds_before():
    """Names that only come in later rows are not known afterwards, as if these rows had never been given."""
    run(f"""{INTERRUPTED}
rows = [{{f"f{{i // 50}}": 1.0, "a": 0.5}} for i in range(400_000)]
from afterwit.data.rows import read_many
X, y = read_many(rows), random.choice([-1, 1], len(rows))
slow = aw.SoftThresholdNetwork(gates=(40, 40))
interrupted(lambda: slow.learn_many(X, y), lambda: slow.rounds > 0)
assert 0 < slow.rounds < len(y)
twin = aw.SoftThresholdNetwork(gates=(40, 40))
twin.learn_many(rows[:slow.rounds], y[:slow.rounds])
assert same_value(slow.state(), twin.state())
""")


@pytest.mark.skipif(INTERPRETED, reason="the blocks are made for compiled loops")
def test_predictions_can_be_interrupted():
    run(f"""{INTERRUPTED}
X = random.standard_normal((20_000, 50))
y = random.choice([-1, 1], len(X))
voted, kernel = aw.VotedPerceptron(), aw.KernelPerceptron()
voted.learn_many(X[:3000], y[:3000])
kernel.learn_many(X[:3000], y[:3000])
for learner in (voted, kernel):
    before = learner.state()
    interrupted(lambda: learner.predict_many(X))
    assert same_value(before, learner.state())
""")


def test_a_handler_of_the_users_that_does_not_raise_stops_nothing():
    run("""
        import os, signal, threading, time
        import numpy as np
        import afterwit as aw
        seen = []
        signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        X = np.random.default_rng(0).standard_normal((3000, 5))
        learner = aw.Committee([aw.Perceptron(), aw.KernelPerceptron()])
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        end = time.monotonic() + 20
        while not seen and time.monotonic() < end:
            learner.learn_many(X, np.where(X[:, 0] > 0, 1, -1))
        assert seen and learner.rounds % 3000 == 0
        assert signal.getsignal(signal.SIGINT).__name__ == "<lambda>"
    """)


# ---------------------------------------------------------------------- forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize(
    "make",
    ["aw.Perceptron()", "aw.VotedPerceptron()", "aw.KernelPerceptron(budget=50)", "aw.Committee()",
     "aw.OneVsRest(labels=(-1, 1))", "aw.Halving(aw.concepts.thresholds(50))"],
)  # fmt: skip
def test_a_child_that_was_forked_while_a_thread_learned_goes_on(make):
    """16 of 20 children hung in predict_one: the lock was held by a thread that did not exist there."""
    points = "Halving" in make
    # Interpreted, what keeps its examples takes long to play them again.
    rows, forks = (50, 6) if INTERPRETED else (400, 12)
    run(f"""
import os, signal, sys, threading, time
import numpy as np
import afterwit as aw
from afterwit.data.values import same_value
random = np.random.default_rng(0)
X, y = random.standard_normal(({rows}, 8)), random.choice([-1, 1], {rows})
if {points}:
    X, y = list(range(50)) * ({rows} // 50), np.where(np.arange({rows}) % 50 >= 20, 1, -1)
learner = {make}
learner.learn_many(X, y)
stop, go_on = threading.Event(), threading.Event()

def learn():
    while not stop.is_set():
        go_on.wait()
        learner.learn_many(X, y)

thread = threading.Thread(target=learn, daemon=True)
thread.start()
for number in range({forks}):
    go_on.set()
    time.sleep(0.0007 * number)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        # What it has learned is that of whole rounds: the rounds played from the start give the same.
        if {not points}:
            twin = {make}
            for _ in range(learner.rounds // {rows}):
                twin.learn_many(X, y)
            if learner.rounds % {rows}:
                twin.learn_many(X[: learner.rounds % {rows}], y[: learner.rounds % {rows}])
            assert same_value(twin.state(), learner.state())
        learner.predict_one(X[0])
        learner.learn_many(X, y)
        learner.learn_one(X[0], 1)
        os._exit(0)
    go_on.clear()
    assert os.waitpid(child, 0)[1] == 0
stop.set()
go_on.set()
thread.join()
learner.learn_many(X, y)
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("make", ["aw.Perceptron()", "aw.VotedPerceptron()", "aw.Committee()", "aw.MLpol(8)"])
def test_a_child_that_was_forked_while_threads_waited_for_the_learner_goes_on(make):
    """A thread that waits gets the lock before it is its turn in Python: then the lock is held, and nobody's."""
    rows, forks = (40, 8) if INTERPRETED else (200, 20)
    run(f"""
import os, signal, threading, time
import numpy as np
import afterwit as aw
random = np.random.default_rng(0)
X, y = random.standard_normal(({rows}, 8)), random.choice([-1, 1], {rows})
learner = {make}
learner.learn_many(X, y)
stop = threading.Event()

def use(act):
    while not stop.is_set():
        act()

acts = [lambda: learner.learn_many(X, y), lambda: learner.predict_many(X), lambda: learner.predict_many(X)]
threads = [threading.Thread(target=use, args=(act,), daemon=True) for act in acts]
for thread in threads:
    thread.start()
for _ in range({forks}):
    time.sleep(0.001)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        learner.predict_one(X[0])
        learner.learn_one(X[0], 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize(
    "make", ["aw.Committee([aw.Perceptron(), aw.SGD()], labels=(-1, 1))", "aw.OneVsRest(aw.SGD())"]
)
def test_a_child_finds_a_learner_of_learners_after_a_whole_round(make):
    """The child had half a round of a single example, and what it saved could not be loaded."""
    run(f"""
import os, signal, threading
import numpy as np
import afterwit as aw
random = np.random.default_rng(0)
X, y = random.standard_normal((200, 8)), random.choice([-1, 1], 200).tolist()
learner = {make}
learner.learn_many(X, y)
stop = threading.Event()

def learn():
    while not stop.is_set():
        for j in range(200):
            learner.learn_one(X[j], y[j])

thread = threading.Thread(target=learn, daemon=True)
thread.start()
for _ in range(30):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        learner.copy()
        learner.learn_one(X[0], 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
""")


def test_learning_imports_nothing_that_a_fork_would_wait_for():
    """A child that is forked while another thread imports numpy.ma waits for that import for ever."""
    run("""
import sys
import numpy as np
import afterwit as aw
before = {name for name in sys.modules if name.startswith("numpy")}
aw.Perceptron().learn_many(np.eye(2), np.array([1, -1]))
aw.MLpol(2).learn_many(np.eye(2), np.ones(2))
assert "numpy.ma" in before or "numpy.ma" not in sys.modules
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_from_within_a_call_does_not_wait_for_itself():
    run("""
        import os, time
        import afterwit as aw

        def kernel(x, z):
            if learner.rounds == 1:
                child = os.fork()
                if child == 0:
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            return float(x @ z)

        import numpy as np
        learner = aw.KernelPerceptron(kernel)
        start = time.monotonic()
        learner.learn_many(np.eye(3), [-1, -1, -1])
        assert time.monotonic() - start < 5
        assert learner.rounds == 3
    """)


# ---------------------------------------------------------------------- threads that write


@pytest.mark.skipif(INTERPRETED, reason="Python checks every index")
def test_columns_that_another_thread_changes_meanwhile_do_not_crash():
    """The indices were checked, and then used in place: a thread that wrote to them made the loop write anywhere."""
    run("""
        import threading
        import numpy as np
        from scipy import sparse
        import afterwit as aw
        random = np.random.default_rng(0)
        X = sparse.random_array((2000, 50), density=0.2, format="csr", rng=random)
        good = X.indices.copy()
        y = random.choice([-1, 1], 2000)
        learners = [aw.Perceptron(), aw.AdaGrad(), aw.VotedPerceptron(), aw.KernelPerceptron(budget=20),
                    aw.SoftThresholdNetwork(), aw.OneVsRest(aw.Winnow(), labels=(-1, 1)), aw.Committee()]
        done = threading.Event()

        def spoil():
            while not done.is_set():
                X.indices[:] = 2**31 - 1
                X.indices[:] = -5
                X.indices[:] = good

        thread = threading.Thread(target=spoil)
        thread.start()
        for _ in range(8):
            for learner in learners:
                for act in (lambda: learner.learn_many(X, y), lambda: learner.predict_many(X)):
                    try:
                        act()
                    except aw.errors.InputError as error:
                        assert "well-formed" in str(error), error
        done.set()
        thread.join()
        assert all(0 < learner.features <= 50 for learner in learners[:3] if learner.rounds)
    """)


@pytest.mark.skipif(INTERPRETED, reason="Python is not so quick")
def test_values_that_another_thread_makes_nan_meanwhile_do_not_hang_the_loop():
    """Weights that were NaN already were put back, and learned again, for ever."""
    run("""
        import threading
        import numpy as np
        from scipy import sparse
        import afterwit as aw
        random = np.random.default_rng(0)
        X = sparse.random_array((4000, 50), density=0.2, format="csr", rng=random)
        good = X.data.copy()
        y = random.choice([-1, 1], 4000)
        done = threading.Event()

        def spoil():
            while not done.is_set():
                X.data[:] = np.nan
                X.data[:] = good

        thread = threading.Thread(target=spoil)
        thread.start()
        for make in (aw.Perceptron, aw.SGD, aw.OnlineSVM, aw.AdaGrad, lambda: aw.OneVsRest(aw.SGD(), labels=(-1, 1))):
            for _ in range(10):
                try:
                    make().learn_many(X, y)
                except (aw.errors.InputError, aw.errors.DivergenceError):
                    pass
        done.set()
        thread.join()
    """)


# ---------------------------------------------------------------------- code of the user's that calls back


class Number:
    """A value whose conversion calls the learner."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 1.0


class Name:
    """A name whose comparison calls the learner; all have the same hash, so that it is compared."""

    def __init__(self, text, act):
        self.text, self.act = text, act

    def __hash__(self):
        return 7

    def __eq__(self, other):
        self.act()
        return isinstance(other, Name) and self.text == other.text


class Hashed(str):
    """A name whose hash calls the learner."""

    act = None

    def __hash__(self):
        if Hashed.act is not None:
            Hashed.act()
        return hash(str(self))


LEARNERS = [
    aw.Perceptron, aw.VotedPerceptron, aw.BalancedWinnow, aw.KernelPerceptron, aw.Committee, aw.OneVsRest,
    aw.RepeatLastLabel, lambda: aw.Committee([aw.KernelPerceptron(), aw.DualPerceptron(), aw.Perceptron()]),
]  # fmt: skip


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("make", LEARNERS)
def test_a_value_that_calls_the_learner_does_not_hang(make):
    """It worked or hung, depending on the learner: values are now converted before it is anybody's turn."""
    learner = make()
    learner.learn_one({"a": 1.0}, -1)
    calls = []

    def act():
        calls.append(learner.rounds)
        learner.predict_one({"a": 1.0})
        learner.learn_one({"a": 1.0}, 1)

    learner.learn_one({"a": Number(act), "b": 1.0}, -1)
    learner.predict_one({"a": Number(act)})
    assert learner.rounds == 2 + len(calls)
    assert learner == learner.copy()


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize("make", LEARNERS)
def test_a_name_that_calls_the_learner_gets_an_error_and_nothing_changes(make):
    learner = make()
    calm = [Name(text, lambda: None) for text in "abc"]
    learner.learn_one(dict.fromkeys(calm, 1.0), -1)
    before = learner.state()

    def act():
        learner.learn_one({calm[0]: 1.0}, 1)

    x = dict.fromkeys([Name(text, lambda: None) for text in "abcd"], 1.0)
    for name in (*calm, *x):
        name.act = act
    for call in (lambda: learner.learn_one(x, 1), lambda: learner.predict_one(x)):
        if make is aw.RepeatLastLabel:  # it does not look at the names
            call()
            continue
        with pytest.raises((BusyError, RecursionError)) as caught:
            call()
        if caught.type is BusyError:
            assert "busy with a call in the same thread" in str(caught.value)
        assert learner.rounds == before["rounds"]
        assert learner.mistakes == before["mistakes"]
    for name in calm:
        name.act = lambda: None
    learner.learn_one({calm[0]: 1.0}, 1)
    assert learner.rounds == before["rounds"] + (2 if make is aw.RepeatLastLabel else 1)


def test_a_hash_that_changes_the_dict_while_it_is_read_does_not_crash():
    """The scratch space was made for as many entries as there were before, and written past its end."""
    run("""
        import afterwit as aw

        class Name:
            armed = None
            def __init__(self, text): self.text = text
            def __hash__(self):
                if Name.armed is not None:
                    Name.armed()
                return hash(self.text)
            def __eq__(self, other): return self.text == getattr(other, "text", other)

        for kind in (aw.Perceptron, aw.AdaGrad, aw.Winnow, aw.VotedPerceptron, aw.SoftThresholdNetwork, aw.Committee,
                     aw.KernelPerceptron, aw.OneVsRest, aw.MarginPerceptron, aw.SelectivePerceptron):
            for mode in ("grow", "swap", "clear"):
                learner = kind()
                learner.learn_one({"a": 1.0}, -1)
                names = [Name(f"n{i}") for i in range(60)]
                x = dict.fromkeys(names, 1.0)
                rounds, features = learner.rounds, getattr(learner, "features", 0)
                count = [0]

                def change():
                    Name.armed = None
                    count[0] += 1
                    if mode == "grow":
                        x.update({f"m{count[0]}.{i}": 1.0 for i in range(5000)})
                    elif mode == "clear":
                        x.clear()
                    else:
                        for i in range(3000):  # the size stays, the table is made anew, and goes on for longer
                            x[f"s{count[0]}.{i}"] = 1.0
                        for key in list(x)[: len(x) - 60]:
                            del x[key]
                    Name.armed = change if count[0] < 200 else None

                Name.armed = change
                try:
                    learner.learn_one(x, 1)
                except (RuntimeError, aw.errors.InputError, KeyError) as error:
                    assert learner.rounds == rounds, (kind, mode, error)
                    assert getattr(learner, "features", 0) == features, (kind, mode, error)
                Name.armed = None
                learner.learn_one({"a": 1.0}, 1)
                assert learner.copy() == learner
    """)


@pytest.mark.usefixtures("watchdog")
def test_a_loss_or_a_kernel_that_calls_its_learner_gets_an_error():
    learner = aw.BOA(2, loss=aw.losses.function(lambda forecast, outcome: learner.weights[0]), gradient=False)
    with pytest.raises(BusyError):
        learner.learn_one([1.0, 2.0], 0.5)
    assert learner.rounds == 0

    def kernel(x, z):
        kernels.predict_one(x)
        return 1.0

    kernels = aw.KernelPerceptron(kernel)
    with pytest.raises(BusyError):
        kernels.learn_one([1.0], -1)
    assert kernels.rounds == 0


def test_a_signal_handler_may_not_use_the_learner_that_it_interrupts():
    """It waited for itself, for ever."""
    run("""
        import os, signal, threading, time
        import numpy as np
        import afterwit as aw
        X = np.random.default_rng(0).standard_normal((1500, 30))
        learner = aw.VotedPerceptron()
        said = []

        def handler(*_):
            try:
                said.append(learner.state()["rounds"])
            except aw.errors.BusyError as error:
                said.append(str(error))

        signal.signal(signal.SIGUSR1, handler)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        end = time.monotonic() + 20
        y = np.random.default_rng(1).choice([-1, 1], len(X))
        while not said and time.monotonic() < end:
            learner.learn_many(X, y)
        assert said
    """)


def test_what_waits_for_ctrl_c_is_put_back():
    handler = signal.getsignal(signal.SIGINT)
    aw.Committee().learn_many([[1.0], [2.0]], [1, -1])
    aw.OneVsRest().learn_many([[1.0], [2.0]], [1, -1])
    assert signal.getsignal(signal.SIGINT) is handler
