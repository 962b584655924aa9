"""What the service answers, and that its document is true."""

import io
import json

import jsonschema
import pytest

import afterwit as aw
from afterwit.serve.answers import encoded
from afterwit.serve.described import SCHEMAS
from served import InProcess

LABELS = {"labels": ["ham", "spam"]}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    found = InProcess(tmp_path_factory.mktemp("routes") / "a.db")
    yield found
    found.close()


@pytest.fixture
def spam(service):
    """A fresh model."""
    service.ask("DELETE", "/models/spam")
    assert service.ask("PUT", "/models/spam", {"learner": "perceptron", "options": LABELS}).status == 201
    return service


def post(service, part, body, model="spam"):
    return service.ask("POST", f"/models/{model}/{part}", body)


def test_a_prediction_and_its_label(spam):
    asked = post(spam, "predictions", {"id": "q", "x": {"a": 1.0}})
    learner = aw.Perceptron(labels=("ham", "spam"))
    assert (asked.status, asked.json) == (
        200,
        {"id": "q", "label": learner.predict_one({"a": 1.0}), "score": 0.0, "rounds": 0},
    )
    told = post(spam, "labels", {"id": "q", "label": "ham"})
    assert (told.status, told.json["outcome"]) == (200, "learned")
    learner.learn_one({"a": 1.0}, "ham")
    again = post(spam, "predictions", {"x": {"a": 1.0}}).json
    assert (again["label"], again["score"], again["rounds"]) == ("ham", learner.score_one({"a": 1.0}), 1)


def test_the_same_again_is_no_news_and_something_else_a_conflict(spam):
    first = post(spam, "predictions", {"id": "q", "x": {"a": 1.0}}).json
    events = spam.events("spam")
    assert post(spam, "predictions", {"id": "q", "x": {"a": 1.0}}).json == first
    other = post(spam, "predictions", {"id": "q", "x": {"a": 2.0}})
    assert (other.status, other.json["where"], spam.events("spam")) == (409, "id", events)
    assert post(spam, "labels", {"id": "q", "label": "spam"}).json["outcome"] == "learned"
    assert post(spam, "labels", {"id": "q", "label": "spam"}).json["outcome"] == "known"
    conflict = post(spam, "labels", {"id": "q", "label": "ham"})
    assert (conflict.status, conflict.json["outcome"], conflict.json["id"]) == (409, "conflict", "q")
    unknown = post(spam, "labels", {"id": "nobody", "label": "ham"})
    assert (unknown.status, unknown.json["outcome"]) == (404, "unknown")
    assert isinstance(unknown.error, str)
    assert spam.events("spam") == events + 1


def test_a_batch_says_of_each_what_became_of_it(spam):
    asked = post(spam, "predictions", [{"id": "a", "x": {"f": 1}}, {"id": "b", "x": {"f": 2}}])
    assert [each["id"] for each in asked.json] == ["a", "b"]
    told = post(
        spam, "labels", [{"id": "b", "label": "ham"}, {"id": "z", "label": "ham"}, {"id": "b", "label": "spam"}]
    )
    assert (told.status, [each["outcome"] for each in told.json]) == (200, ["learned", "unknown", "conflict"])
    learned = post(spam, "examples", [{"id": "c", "x": {"f": 1}, "label": "ham"}, {"x": {"f": 1}, "label": "spam"}])
    assert [each["outcome"] for each in learned.json] == ["learned", "learned"]
    assert post(spam, "examples", {"id": "c", "x": {"f": 1}, "label": "ham"}).json["outcome"] == "known"
    assert post(spam, "examples", {"id": "c", "x": {"f": 1}, "label": "spam"}).status == 409


def test_a_batch_with_something_wrong_in_it_is_not_stored(spam):
    events = spam.events("spam")
    answer = post(spam, "examples", [{"x": {"f": 1}, "label": "ham"}, {"x": {"f": 1}, "label": "eggs"}])
    assert (answer.status, answer.json["where"], spam.events("spam")) == (422, "[1].label", events)


def test_a_single_example_that_cannot_be_learned_has_no_number(service):
    assert service.ask("PUT", "/models/slopes", {"learner": "sgd-regressor"}).status == 201
    alone = {"x": {"a": 1e200}, "label": 1e200}
    answer = post(service, "examples", alone, "slopes")
    assert (answer.status, answer.json.get("where")) == (422, None)
    assert answer.json["error"].startswith("round 1 would make a score")
    (first, second) = post(service, "examples", [alone, {"x": {"a": 1}, "label": 1}], "slopes").json
    assert (first["outcome"], second["outcome"]) == ("refused", "learned")


def test_models_are_made_once(service):
    body = {"learner": "committee", "options": LABELS}
    assert [service.ask("PUT", "/models/once", body).status for _ in range(2)] == [201, 200]
    other = service.ask("PUT", "/models/once", {"learner": "perceptron", "options": LABELS})
    assert other.status == 409
    assert "once" in [each["model"] for each in service.ask("GET", "/models").json["models"]]
    assert service.ask("GET", "/models/once").json["learner"] == "committee"
    assert service.ask("DELETE", "/models/once").status == 200
    assert [service.ask(method, "/models/once").status for method in ("GET", "DELETE")] == [404, 404]


def test_a_frozen_model_predicts_and_learns_nothing(spam):
    post(spam, "predictions", {"id": "q", "x": {"a": 1}})
    assert post(spam, "freeze", {}).json == {"model": "spam", "frozen": True}
    assert spam.ask("GET", "/models/spam").json["frozen"] is True
    assert post(spam, "predictions", {"x": {"a": 1}}).status == 200
    assert post(spam, "labels", {"id": "q", "label": "ham"}).status == 409
    assert spam.ask("POST", "/models/spam/unfreeze").status == 200
    assert post(spam, "labels", {"id": "q", "label": "ham"}).json["outcome"] == "learned"
    assert post(spam, "freeze", {"x": 1}).status == 422
    assert spam.ask("POST", "/models/spam/freeze", headers={"content-type": "text/plain"}).status == 415


def test_the_file_is_the_learner(spam, tmp_path):
    post(spam, "examples", [{"x": {"a": 1.0}, "label": "ham"}, {"x": {"a": 2.0}, "label": "spam"}])
    answer = spam.ask("GET", "/models/spam/file")
    assert answer.headers["content-disposition"] == 'attachment; filename="spam.aw"'
    path = tmp_path / "spam.aw"
    path.write_bytes(answer.body)
    learner = aw.Perceptron(labels=("ham", "spam"))
    learner.learn_many([{"a": 1.0}, {"a": 2.0}], ["ham", "spam"])
    assert aw.load(path) == learner
    headers = {"content-type": "application/octet-stream"}
    spam.ask("DELETE", "/models/copy")
    assert [spam.ask("PUT", "/models/copy/file", content=answer.body, headers=headers).status for _ in range(2)] == [
        201,
        200,
    ]
    assert post(spam, "predictions", {"x": {"a": 1.0}}, "copy").json["score"] == learner.score_one({"a": 1.0})


def test_the_log_comes_as_lines_and_as_parquet(spam):
    import pyarrow.parquet

    post(spam, "examples", [{"id": f"e{i}", "x": {"a": i}, "label": "ham"} for i in range(3)])
    answer = spam.ask("GET", "/models/spam/log")
    events = [json.loads(line) for line in answer.body.splitlines()]
    assert [(each["n"], each["kind"], each["key"]) for each in events] == [
        (1, "create", None),
        (2, "learn", "e0"),
        (3, "learn", "e1"),
        (4, "learn", "e2"),
    ]
    assert spam.ask("GET", "/models/spam/log", query="after=3").body.count(b"\n") == 1
    answer = spam.ask("GET", "/models/spam/log", query="format=parquet")
    table = pyarrow.parquet.read_table(io.BytesIO(answer.body))
    assert table.column("n").to_pylist() == [1, 2, 3, 4]
    assert spam.ask("GET", "/models/none/log").status == 404


def test_waiting_ids_come_page_by_page(spam):
    post(spam, "predictions", [{"id": f"q{i}", "x": {"a": i}} for i in range(5)])
    post(spam, "labels", {"id": "q1", "label": "ham"})
    found, after = [], 0
    while after is not None:
        page = spam.ask("GET", "/models/spam/waiting", query=f"after={after}&limit=2").json
        found += [each["id"] for each in page["waiting"]]
        after = page["next"]
    assert found == ["q0", "q2", "q3", "q4"]
    for query, message in (
        ("limit=0", "limit: input should be greater than or equal to 1; received '0'"),
        ("after=x", "after: "),
    ):
        answer = spam.ask("GET", "/models/spam/waiting", query=query)
        assert (answer.status, answer.json["where"]) == (422, query.partition("=")[0])
        assert answer.error.startswith(message)


def test_experts_take_advice_and_outcomes(service):
    service.ask("DELETE", "/models/mix")
    service.ask("PUT", "/models/mix", {"learner": "mlpol", "options": {"n_experts": ["a", "b"]}})
    asked = post(service, "predictions", {"id": "q", "advice": {"a": 1.0, "b": 3.0}}, "mix")
    assert (asked.status, asked.json["forecast"]) == (200, 2.0)
    told = post(service, "labels", {"id": "q", "outcome": 1.0}, "mix")
    assert told.json["outcome"] == "learned"
    learned = post(service, "examples", {"advice": [1.0, None], "outcome": 1.0}, "mix")
    assert (learned.json["outcome"], learned.json["forecast"]) == ("learned", 1.0)
    assert service.ask("GET", "/models/mix").json["weights"][0][0] == "a"


def test_raw_records_go_through_a_schema(service):
    stream = aw.read(
        [{"colour": "red", "price": 3.0, "sold": "yes"}, {"colour": "blue", "price": None, "sold": "no"}], target="sold"
    )
    body = {"learner": "committee", "options": {"labels": ["no", "yes"]}, "schema": stream.schema.as_data()}
    assert service.ask("PUT", "/models/sales", body).status == 201
    asked = post(service, "predictions", {"x": {"colour": "red", "price": None}}, "sales")
    assert asked.status == 200
    wrong = post(service, "predictions", [{"x": {"colour": "red"}}, {"x": {"colour": "red", "prize": 3}}], "sales")
    assert (wrong.status, wrong.json["where"]) == (422, "[1].x")
    assert wrong.error.startswith("[1].x: there is no column 'prize'. Did you mean 'price'?")


def test_what_is_not_there_is_404_and_what_is_not_done_405(service):
    answer = service.ask("GET", "/nothing")
    assert (answer.status, answer.error) == (404, "there is nothing at '/nothing'; /openapi.json lists what there is")
    for path in ("/models/", "/models/a/b/c", "//models", "/static/../models", "/docs", "/models/none/predictions/"):
        assert service.ask("GET", path).status == 404, path
    for method, part in (
        ("GET", ""),
        ("GET", "/curve"),
        ("GET", "/certificate"),
        ("GET", "/waiting"),
        ("GET", "/live"),
        ("GET", "/file"),
        ("POST", "/freeze"),
    ):
        assert service.ask(method, f"/models/none{part}").error == "there is no model 'none'"
    for part, body in (
        ("predictions", {"x": {}}),
        ("labels", {"id": "q", "label": 1}),
        ("examples", {"x": {}, "label": 1}),
    ):
        assert post(service, part, body, "none").error == "there is no model 'none'"
    answer = service.ask("PATCH", "/models/spam")
    assert (answer.status, sorted(answer.headers["allow"].split(", "))) == (
        405,
        ["DELETE", "GET", "PUT"],
    ) or answer.status == 405
    assert service.ask("GET", "/models/spam/predictions").status == 405


def test_what_is_no_finite_number_is_null():
    assert encoded({"a": float("nan"), 1: [float("inf"), 2.0]}) == b'{"a":null,"1":[null,2.0]}'


def test_a_failure_of_the_service_is_500_and_said_in_its_log(spam, monkeypatch, caplog):
    monkeypatch.setattr(spam.engine, "describe", lambda model: 1 / 0)
    with caplog.at_level("ERROR", logger="afterwit.serve"):
        answer = spam.ask("GET", "/models/spam")
    assert (answer.status, "Traceback" in answer.error) == (500, False)
    assert [record.fields["path"] for record in caplog.records] == ["/models/spam"]
    monkeypatch.setattr(spam.engine, "submit_async", lambda operation: 1 / 0)
    answer = post(spam, "predictions", {"x": {"a": 1}})
    assert (answer.status, "Traceback" in answer.error) == (500, False)
    assert spam.service.log.last[-1]["status"] == 500


# ------------------------------------------------------------------ the document


@pytest.fixture(scope="module")
def document(service):
    answer = service.ask("GET", "/openapi.json")
    assert answer.status == 200
    return answer.json


def resolved(document, schema):
    return {**schema, "components": document["components"]}


def test_every_route_is_in_the_document_with_its_errors(document):
    found = {(path, method) for path, operations in document["paths"].items() for method in operations}
    parts = {"": "get put delete", "/file": "get put", "/predictions": "post", "/labels": "post", "/examples": "post"}
    parts |= {"/freeze": "post", "/unfreeze": "post"}
    parts |= dict.fromkeys(("/waiting", "/curve", "/certificate", "/log", "/live"), "get")
    expected = {(f"/models/{{model}}{part}", method) for part, methods in parts.items() for method in methods.split()}
    expected |= {(path, "get") for path in ("/models", "/live", "/healthz", "/readyz", "/metrics")}
    assert found == expected
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], path
            assert operation["description"], path
            assert {"401", "403", "500"} <= set(operation["responses"]), path
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}, (
                        path,
                        method,
                    )
    assert "HTTPValidationError" not in json.dumps(document)


def test_the_schemas_of_the_document_are_schemas(document):
    for name, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert document["components"]["schemas"][name] == schema
    used = json.dumps(document["paths"])
    assert [name for name in SCHEMAS if f"schemas/{name}" not in used] == []


def test_its_examples_are_bodies_that_it_describes_and_takes(service, document):
    for model in ("spam", "mix", "mails"):
        service.ask("DELETE", f"/models/{model}")
    service.ask("PUT", "/models/mix", {"learner": "mlpol", "options": {"n_experts": ["warm", "cold", "asleep"]}})
    checked = 0
    for path, operations in document["paths"].items():
        for operation in operations.values():
            media = operation.get("requestBody", {}).get("content", {}).get("application/json")
            for name, example in (media or {}).get("examples", {}).items():
                jsonschema.validate(example["value"], resolved(document, media["schema"]))
                checked += 1
                if path == "/models/{model}":
                    service.ask("DELETE", "/models/example")
                    assert service.ask("PUT", "/models/example", example["value"]).status == 201, name
    assert checked == 10


def test_answers_are_what_the_document_says(spam, document):
    def check(method, path, body=None, query="", status=200):
        template = "/models/{model}" + path.removeprefix("/models/spam") if path.startswith("/models/") else path
        operation = document["paths"][template][method.lower()]
        answer = spam.ask(method, path, body, query=query)
        assert answer.status == status, answer.body
        jsonschema.validate(
            answer.json,
            resolved(document, operation["responses"][str(status)]["content"]["application/json"]["schema"]),
        )
        if body is not None and status < 300:
            jsonschema.validate(
                body, resolved(document, operation["requestBody"]["content"]["application/json"]["schema"])
            )

    check("PUT", "/models/spam", {"learner": "perceptron", "options": LABELS})
    check("POST", "/models/spam/predictions", {"id": "q", "x": {"a": 1}})
    check("POST", "/models/spam/predictions", [{"x": {"a": 1}}, {"x": {"b": True}}])
    check("POST", "/models/spam/predictions", {"x": 3}, status=422)
    check("POST", "/models/spam/labels", {"id": "q", "label": "ham"})
    check("POST", "/models/spam/labels", [{"id": "q", "label": "ham"}, {"id": "z", "label": "ham"}])
    check("POST", "/models/spam/labels", {"id": "z", "label": "ham"}, status=404)
    check("POST", "/models/spam/labels", {"id": "q", "label": "spam"}, status=409)
    check("POST", "/models/spam/examples", {"x": {"a": 1}, "label": "ham"})
    check("POST", "/models/spam/examples", [{"x": {"a": 1}, "label": "ham"}])
    for path in (
        "/models",
        "/models/spam",
        "/models/spam/curve",
        "/models/spam/waiting",
        "/models/spam/certificate",
        "/healthz",
        "/readyz",
    ):
        check("GET", path)
    check("GET", "/models/spam/waiting", query="limit=-1", status=422)
    check("DELETE", "/models/spam")
    check("GET", "/models/spam", status=404)
