"""A model of each kind: after a restart, from a snapshot or from the log alone, and after an offline replay it is what it
was, byte for byte; and it is a learner that learned the same examples in the same order."""

import random

import pytest

import afterwit as aw
from afterwit.serve.spec import make, to_file
from serving import Serving

SCHEMA = {
    "columns": [
        {"name": "price", "kind": "number", "missing": True},
        {"name": "colour", "kind": "category"},
        {"name": "text", "kind": "words"},
    ],
    "target": "sold",
}


def numbers(rng):
    x = {name: rng.choice([0.0, 1.0, rng.gauss(0, 1)]) for name in rng.sample("abcdef", 4)}
    return x, sum(x.values())


def listed(rng):
    x = [rng.gauss(0, 1) for _ in range(3)]
    return x, sum(x)


def records(rng):
    x = {"price": rng.choice([None, 3, 4.5]), "colour": rng.choice(["red", "blue", None])}
    x["text"] = rng.choice(["cheap cheap pills", "dear friend", "", "friend\u2028 ü \U0001f600"])
    return x, (x["colour"] == "red") - 0.5 + (x["text"] == "") * 0.3


def advice(rng):
    truth = rng.random()
    return {"warm": truth + 0.2, "cold": truth - rng.random() / 3, "off": rng.choice([None, 0.5])}, truth


def listed_advice(rng):
    truth = rng.random()
    return [truth * 0.9, truth * 0.5 + 0.2], truth


def sign(target):
    return 1 if target > 0 else -1


def spam(target):
    return "spam" if target > 0 else "ham"


def three(target):
    return ["low", "middle", "high"][min(2, max(0, int(target + 1.5)))]


def same(target):
    return target


def half(target):
    return int(target > 0.5)


EXPERTS = {"n_experts": ["warm", "cold", "off"]}
#: Learner, options, schema, how examples are drawn, and what their labels are.
KINDS = {
    "perceptron": ("perceptron", {}, None, numbers, sign),
    "perceptron of lists": ("perceptron", {"labels": ["ham", "spam"]}, None, listed, spam),
    "perceptron of records": ("perceptron", {"labels": ["ham", "spam"]}, SCHEMA, records, spam),
    "perceptron of hashed records": (
        "perceptron",
        {"labels": ["ham", "spam"]},
        {**SCHEMA, "hash_bits": 10},
        records,
        spam,
    ),
    "margin perceptron": ("margin-perceptron", {}, None, numbers, sign),
    "sgd": ("sgd", {}, None, numbers, sign),
    "online svm": ("online-svm", {}, None, numbers, sign),
    "adagrad of records": ("adagrad", {"labels": ["ham", "spam"]}, SCHEMA, records, spam),
    "adagrad of hashed records": ("adagrad", {"labels": ["ham", "spam"]}, {**SCHEMA, "hash_bits": 10}, records, spam),
    "voted perceptron": ("voted-perceptron", {}, None, numbers, sign),
    "kernel perceptron": ("kernel-perceptron", {"kernel": "gaussian(width=2)"}, None, numbers, sign),
    "standardize": ("standardize", {"learner": "adagrad"}, None, numbers, sign),
    "committee": ("committee", {"labels": ["ham", "spam"]}, None, numbers, spam),
    "committee that votes": ("committee", {"weighting": "adahedge"}, None, numbers, sign),
    "selective": ("selective-perceptron", {"seed": 3}, None, numbers, sign),
    "network": ("soft-threshold-network", {"gates": [3]}, None, numbers, sign),
    "multiclass perceptron": ("multiclass-perceptron", {}, None, numbers, three),
    "softmax of records": ("softmax-adagrad", {}, SCHEMA, records, three),
    "one against the rest": ("one-vs-rest", {"learner": "adagrad"}, None, numbers, three),
    "multiclass committee": ("multiclass-committee", {}, None, numbers, three),
    "nearest neighbours": ("nearest-neighbours", {"neighbours": 3}, None, numbers, three),
    "sgd regressor": ("sgd-regressor", {}, None, numbers, same),
    "regressor of records": ("scale-free-regressor", {"loss": "absolute"}, SCHEMA, records, same),
    "ridge": ("online-ridge", {}, None, numbers, same),
    "regression committee": ("regression-committee", {}, None, listed, same),
    "intervals": ("conformal-intervals", {"forecaster": "scale-free-regressor", "coverage": 0.5}, None, numbers, same),
    "intervals of experts": (
        "conformal-intervals",
        {"forecaster": {"learner": "mlpol", "options": EXPERTS}, "method": "tracking", "coverage": 0.5},
        None,
        advice,
        same,
    ),
    "experts": ("mlpol", EXPERTS, None, advice, same),
    "experts by place": ("boa", {"n_experts": 2}, None, listed_advice, same),
    "experts that decide by what they served": (
        "exponential-weights",
        {"n_experts": 2, "rate": 0.3},
        None,
        listed_advice,
        same,
    ),
    "experts with a pinball loss": (
        "fixed-share",
        {"n_experts": 2, "loss": "pinball(0.8)", "shifts": 3, "horizon": 99},
        None,
        listed_advice,
        same,
    ),
    "probabilities": (
        "exponential-weights",
        {"n_experts": 2, "loss": "log"},
        None,
        lambda rng: ([0.3, 0.6], rng.random()),
        half,
    ),
    "experts at random": ("exp3", {"n_experts": 2, "loss": "absolute", "horizon": 99}, None, listed_advice, same),
    "votes": ("weighted-majority", {"n_experts": 2}, None, lambda rng: ([0, 1], rng.random()), half),
}


def drawn(kind, count, seed=0):
    """Rounds in which labels come late and out of order, or never."""
    rng = random.Random(seed)
    draw, label = KINDS[kind][3:]
    waiting = []
    for i in range(count):
        x, target = draw(rng)
        if i % 5 == 4:
            yield [("learn", None, x, label(target))]
            continue
        waiting.append((f"id {i}", label(target)))
        told = [waiting.pop(rng.randrange(len(waiting))) for _ in range(rng.choice([0, 0, 1, 3])) if waiting]
        yield [("predict", f"id {i}", x, None), *(("label", key, None, y) for key, y in told)]


def play(serving, rounds):
    """Singly."""
    for parts in rounds:
        for what, key, x, y in parts:
            if what == "predict":
                serving.predict("m", (key, x))
            elif what == "label":
                serving.label("m", (key, y))
            else:
                serving.learn("m", (key, x, y))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_a_function_of_its_log(kind, sqlite, tmp_path):
    learner, options, schema, _, _ = KINDS[kind]
    rounds = list(drawn(kind, 40))
    with Serving(sqlite, snapshot_every=15) as serving:
        serving.create("m", learner, options, schema)
        play(serving, rounds[:20])
        before = serving.state("m")
        serving.restart(snapshot=False)
        assert serving.state("m") == before
        play(serving, rounds[20:30])
        serving.restart(snapshot=True)
        play(serving, rounds[30:])
        after = serving.state("m")
        serving.restart(snapshot=False)
        assert serving.state("m") == after
        assert serving.replayed("m", tmp_path) == after
        assert serving.engine.describe("m")["totals"]["rounds"] == serving.hosted("m").progress.curve.rounds > 10
    assert by_hand(kind, rounds) == after[0]


def by_hand(kind, rounds):
    """The file of a learner that learns the same without a service."""
    learner, options, schema, _, _ = KINDS[kind]
    model = make(learner, options, schema)
    by_ticket = model.late == "served"
    kept = {}
    for parts in rounds:
        for what, key, x, y in parts:
            if what == "predict":
                if hasattr(model, "asks") and not model.asks(x):
                    model.skip(x)
                else:
                    kept[key] = model.serve_one(x)[1] if by_ticket else x
            elif what == "label" and key in kept:
                (model.learn_late if by_ticket else model.learn_one)(kept.pop(key), y)
            elif what == "learn":
                model.learn_one(x, y)
    return to_file(model)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_the_loop(kind, tmp_path):
    learner, options, schema, _, _ = KINDS[kind]
    rounds = list(drawn(kind, 40, seed=1))
    predictions = [(key, x) for parts in rounds for what, key, x, _ in parts if what == "predict"]
    labels = [(key, y) for parts in rounds for what, key, _, y in parts if what == "label"]
    examples = [(key, x, y) for parts in rounds for what, key, x, y in parts if what == "learn"]
    states, answers = [], []
    for name, size in (("one", 1), ("many", 1000)):
        with Serving(str(tmp_path / f"{name}.db")) as serving:
            serving.create("m", learner, options, schema)
            told = []
            for items, do in ((predictions, serving.predict), (labels, serving.label), (examples, serving.learn)):
                for begin in range(0, len(items), size):
                    told += do("m", *items[begin : begin + size])
            answers.append(told)
            states.append(serving.engine.file("m"))
            totals = serving.engine.describe("m")["totals"]
            states.append(totals)
    assert answers[0] == answers[1]
    assert states[:2] == states[2:]


def test_an_uploaded_model_goes_on(sqlite, tmp_path):
    learner = aw.Perceptron(labels=("ham", "spam"))
    learner.learn_many([{"a": 1.0}, {"b": 1.0}], ["ham", "spam"])
    from afterwit.serve.operations import Upload

    content = to_file(learner)
    with Serving(sqlite) as serving:
        assert serving.do(Upload("m", content)) == {"model": "m", "created": True}
        assert serving.do(Upload("m", content)) == {"model": "m", "created": False}
        (said,) = serving.predict("m", ("q", {"a": 1.0}))
        assert (said["label"], said["rounds"]) == ("ham", 2)
        serving.label("m", ("q", "spam"))
        before = serving.state("m")
        serving.restart(snapshot=False)
        assert serving.state("m") == before == serving.replayed("m", tmp_path)
        assert "2 examples before its log begins" in finished(serving.engine)["why"]


def finished(engine):
    """The certificate, when it has been computed."""
    import time

    for _ in range(600):
        found = engine.certificate("m")
        if not found["computing"] and found.get("why") != "it is being computed":
            return found
        time.sleep(0.05)
    raise AssertionError(found)
