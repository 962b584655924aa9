"""One pass of each tool over a data set, every example predicted before it is learned.

A tool gets the examples in its own form, made beforehand: arrays or sparse rows, dicts, or parsed lines. The time is
that of the loop. The size is that of the model as it is saved after the pass.
"""

import os
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse

import afterwit as aw

#: A pass stops here: what it predicts from then on is no number.
DIVERGED = (OverflowError, FloatingPointError, ValueError, ArithmeticError)


@dataclass
class Pass:
    predictions: list
    chances: list | None  # the probability of the label that came, or None
    seconds: float
    size: int


@dataclass
class Tool:
    name: str
    call: str
    run: Callable  # of a data set; None where the tool cannot take it


def saved(model):
    return len(pickle.dumps(model))


def as_row(X, i):
    return X[i : i + 1] if not scipy.sparse.issparse(X) else X[[i]]


def ours(make, data):
    """``learn_many`` is timed. The probabilities come from a second pass, row by row."""
    learner = make()
    begin = time.perf_counter()
    predictions = learner.learn_many(data.X, data.y)
    seconds = time.perf_counter() - begin
    return Pass(predictions.tolist(), our_chances(make(), data), seconds, saved(learner))


def our_chances(learner, data):
    if data.kind == "numbers":
        return None
    share = 1 / len(data.classes)
    chances = []
    for i, y in enumerate(data.y.tolist()):
        x = as_row(data.X, i)
        try:
            chances.append(learner.predict_proba_one(x[0]).get(y, share if i == 0 else 0.0))
        except NotImplementedError:
            return None
        learner.learn_many(x, [y])
    return chances


def entries(data):
    """For every row its columns and values that are not 0."""
    X = scipy.sparse.csr_array(data.X)
    X.eliminate_zeros()
    for begin, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
        yield X.indices[begin:end].tolist(), X.data[begin:end].tolist()


def vowpal(options, data):
    from vowpalwabbit import Workspace

    classes = len(data.classes) if data.kind == "many" else 0
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "model"
        # What the library itself prints when it opens and closes is of no use here.
        workspace = Workspace(f"{options.format(k=classes)} --quiet -f {target}")
        examples = [
            workspace.parse(f"{vowpal_label(options, classes, y)} | " + " ".join(map("{}:{!r}".format, *row)))
            for row, y in zip(entries(data), data.y.tolist(), strict=True)
        ]
        found = []
        begin = time.perf_counter()
        for example in examples:
            workspace.learn(example)
            found.append(example.get_prediction())
        seconds = time.perf_counter() - begin
        for example in examples:
            workspace.finish_example(example)
        workspace.finish()
        size = target.stat().st_size
    if data.kind == "numbers":
        return Pass(found, None, seconds, size)
    if data.kind == "many":
        if "--probabilities" not in options:
            return Pass([each - 1 for each in found], None, seconds, size)
        chances = [each[y] for each, y in zip(found, data.y.tolist(), strict=True)]
        return Pass([int(np.argmax(each)) for each in found], chances, seconds, size)
    chances = None
    if "logistic" in options:
        margins = data.y * np.array(found)
        chances = np.exp(-np.logaddexp(0, -margins)).tolist()
    return Pass([1 if each >= 0 else -1 for each in found], chances, seconds, size)


def vowpal_label(options, classes, y):
    if "csoaa" in options:
        return " ".join(f"{each + 1}:{int(each != y)}" for each in range(classes))
    return y + 1 if classes else y


def river(make, full, data):
    """``full``: rows with their zeros, which a scaler needs; word data would be too wide for that."""
    if full and not data.narrow:
        return None
    if full:
        X = data.X.toarray() if scipy.sparse.issparse(data.X) else data.X
        rows = [dict(enumerate(row)) for row in X.tolist()]
    else:
        rows = [dict(zip(*row, strict=True)) for row in entries(data)]
    model = make()
    answers = (data.y > 0 if data.kind == "two" else data.y).tolist()
    if data.kind == "numbers":
        return river_numbers(model, rows, answers)
    found = []
    begin = time.perf_counter()
    for x, y in zip(rows, answers, strict=True):
        found.append(model.predict_proba_one(x))
        model.learn_one(x, y)
    seconds = time.perf_counter() - begin
    predictions = [max(each, key=each.get) if each else None for each in found]
    share = 1 / len(data.classes)
    chances = [each.get(y, 0.0) if each else share for each, y in zip(found, answers, strict=True)]
    if data.kind == "two":
        predictions = [1 if each else -1 for each in predictions]
    return Pass(predictions, chances, seconds, saved(model))


def river_numbers(model, rows, answers):
    found = []
    begin = time.perf_counter()
    for x, y in zip(rows, answers, strict=True):
        found.append(model.predict_one(x))
        model.learn_one(x, y)
    return Pass(found, None, time.perf_counter() - begin, saved(model))


def scikit(make, scaled, data):
    """``scaled``: a StandardScaler learns each row first. Before the first row it is the first class, or 0."""
    from sklearn.preprocessing import StandardScaler

    if scaled and not data.narrow:
        return None
    model, scaler = make(), StandardScaler()
    X = data.X.toarray() if scaled and scipy.sparse.issparse(data.X) else data.X
    rows = [as_row(X, i) for i in range(len(data.y))]
    answers = [data.y[i : i + 1] for i in range(len(data.y))]
    labels = {} if data.kind == "numbers" else {"classes": np.array(data.classes)}
    sure = hasattr(model, "predict_proba")
    found = [np.full(len(data.classes), 1 / len(data.classes)) if sure else 0 if not labels else data.classes[0]]
    begin = time.perf_counter()
    for i, (x, y) in enumerate(zip(rows, answers, strict=True)):
        if scaled:
            x = scaler.partial_fit(x).transform(x)
        if i > 0:
            found.append(model.predict_proba(x)[0] if sure else model.predict(x)[0])
        model.partial_fit(x, y, **labels)
    seconds = time.perf_counter() - begin
    size = saved((scaler, model) if scaled else model)
    if not sure:
        return Pass(found, None, seconds, size)
    place = {label: i for i, label in enumerate(data.classes)}
    chances = [each[place[y]] for each, y in zip(found, data.y.tolist(), strict=True)]
    return Pass([data.classes[int(np.argmax(each))] for each in found], chances, seconds, size)


def tool(name, call, run, *arguments):
    return Tool(name, call, partial(run, *arguments))


def our_tools(*calls):
    for call in calls:
        name = call.replace("aw.", "").removesuffix("()")
        yield tool(name, call, ours, partial(eval, call, {"aw": aw}))


def vowpal_tools(**options):
    for name, option in options.items():
        yield tool(f"VW {name}", f'vowpalwabbit.Workspace("{option}")', vowpal, option)


def river_tools(**calls):
    from river import linear_model, multiclass, preprocessing

    known = {"linear_model": linear_model, "multiclass": multiclass, "preprocessing": preprocessing}
    for name, call in calls.items():
        scaled = "StandardScaler" in call
        yield tool(f"River {name.replace('_', ' ')}", call, river, partial(eval, call, known), scaled)


def scikit_tools(**calls):
    from sklearn import linear_model

    for name, call in calls.items():
        scaled = name.endswith("scaled")
        make = partial(eval, call, {"linear_model": linear_model})
        shown = f"preprocessing.StandardScaler() and {call}" if scaled else call
        yield tool(f"sklearn {name.replace('_', ' ')}", shown, scikit, make, scaled)


def tools(kind):
    """The tools for data of this kind: ours, then the peers that are installed."""
    makers = {"two": two_labels, "many": many_classes, "numbers": numbers}
    found = []
    for part in makers[kind]():
        try:
            found += part()
        except ImportError as missing:
            print(f"left out: {missing}")
    return found


def installed_vowpal(**options):
    import vowpalwabbit  # noqa: F401

    return vowpal_tools(**options)


LOG = 'linear_model.SGDClassifier(loss="log_loss")'
PASSIVE = 'linear_model.SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0)'


def two_labels():
    yield partial(our_tools, "aw.Committee()", "aw.ScaleFree()", "aw.NormalizedAdaGrad()", "aw.AdaGrad()")
    yield partial(
        installed_vowpal,
        logistic="--loss_function logistic",
        hinge="--loss_function hinge",
        squared="--loss_function squared",
    )
    yield partial(
        river_tools,
        LR="linear_model.LogisticRegression()",
        LR_scaled="preprocessing.StandardScaler() | linear_model.LogisticRegression()",
        PA="linear_model.PAClassifier()",
        PA_scaled="preprocessing.StandardScaler() | linear_model.PAClassifier()",
    )
    yield partial(scikit_tools, SGD=LOG, SGD_scaled=LOG, PA=PASSIVE)


def many_classes():
    yield partial(
        our_tools,
        "aw.MulticlassCommittee()",
        "aw.MulticlassStandardize()",
        "aw.SoftmaxAdaGrad()",
        "aw.OneVsRest(aw.Standardize())",
        "aw.OneVsRest(aw.NormalizedAdaGrad())",
        "aw.AveragedMulticlassPerceptron()",
    )
    yield partial(
        installed_vowpal,
        oaa="--oaa {k}",
        oaa_logistic="--oaa {k} --probabilities --loss_function logistic",
        csoaa="--csoaa {k}",
    )
    yield partial(
        river_tools,
        softmax="linear_model.SoftmaxRegression()",
        softmax_scaled="preprocessing.StandardScaler() | linear_model.SoftmaxRegression()",
        OvR_scaled="preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())",
    )
    yield partial(scikit_tools, SGD=LOG, SGD_scaled=LOG, PA=PASSIVE)


def numbers():
    yield partial(
        our_tools,
        "aw.RegressionCommittee()",
        "aw.OnlineRidge()",
        "aw.ScaleFreeRegressor()",
        "aw.NormalizedAdaGradRegressor()",
    )
    yield partial(installed_vowpal, squared="--loss_function squared")
    yield partial(
        river_tools,
        LR_scaled="preprocessing.StandardScaler() | linear_model.LinearRegression()",
        Bayes="linear_model.BayesianLinearRegression()",
    )
    yield partial(scikit_tools, SGD="linear_model.SGDRegressor()", SGD_scaled="linear_model.SGDRegressor()")


def one_pass(kind, name, data):
    """The pass of one tool; None where it cannot take the data, and what went wrong where it stopped."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    chosen = next(each for each in tools(kind) if each.name == name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return chosen.run(data)
        except DIVERGED as problem:
            return str(problem)
