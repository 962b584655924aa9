"""Models with labels that come late: tickets of raw records."""

import json

import pytest

import afterwit as aw
from afterwit.errors import InputError

SALES = [
    {"colour": ["red", "blue", "green"][i % 3], "price": float(i % 7), "sold": "yes" if i % 3 == 0 else "no"}
    for i in range(60)
]


def model(learner):
    stream = aw.read(SALES, target="sold")
    return aw.Model(stream.schema, learner(labels=stream.labels))


def without(record):
    return {name: value for name, value in record.items() if name != "sold"}


@pytest.mark.parametrize("kind", [aw.Perceptron, aw.AdaGrad, aw.Committee])
def test_records_are_served_and_learned_late(kind, tmp_path):
    late, at_once, together = model(kind), model(kind), model(kind)
    tickets = []
    for record in SALES:
        prediction, ticket = late.serve_one(without(record))
        assert prediction == late.predict_one(without(record))
        assert json.loads(json.dumps(ticket)) == ticket
        assert late.learn_late(ticket, record["sold"]) == at_once.learn_one(record) == prediction
    assert late == at_once
    predictions, tickets = together.serve_many([without(record) for record in SALES])
    assert predictions.tolist() == [together.predict_one(record) for record in SALES]
    aw.save(together, tmp_path / "model")
    together = aw.load(tmp_path / "model")
    assert together.learn_late_many(tickets, [record["sold"] for record in SALES]).tolist() == predictions.tolist()
    assert together.rounds == 60
    with pytest.raises(InputError, match="ticket must be what serve_one of"):
        together.learn_late({}, "yes")


def test_a_model_plays_with_delays():
    learner = model(aw.Perceptron)
    record = aw.play(learner, SALES, delay=4)
    assert record.mistakes == learner.mistakes
    assert record.certificate().verdict == "holds"
    assert learner.delays["largest"] == 4
