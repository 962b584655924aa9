"""Bodies of requests: whatever is wrong with them is said in a sentence, and nothing is stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterwit.serve.limits import Limits
from served import InProcess

SMALL = Limits(body=20_000, file=1_000, features=5, name=50, batch=4, waiting=30)
HUGE = 10**400


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    found = InProcess(tmp_path_factory.mktemp("bodies") / "a.db", SMALL)
    labels = {"labels": ["ham", "spam"]}
    assert found.ask("PUT", "/models/spam", {"learner": "perceptron", "options": labels}).status == 201
    assert found.ask("PUT", "/models/price", {"learner": "sgd-regressor"}).status == 201
    assert found.ask("PUT", "/models/mix", {"learner": "mlpol", "options": {"n_experts": ["a", "b"]}}).status == 201
    yield found
    found.close()


def refused(service, path, status, **request):
    """The refusal of a request; nothing has been stored."""
    model = path.split("/")[2]
    before = service.events(model)
    answer = service.ask("POST", path, **request)
    assert (answer.status, service.events(model)) == (status, before), answer.body
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json) <= {"error", "where"}
    return answer.json


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the body must be JSON; received nothing"),
        (b"nul", "the body must be JSON; expecting value at line 1, column 1"),
        (b"{", "the body must be JSON; expecting property name enclosed in double quotes at line 1, column 2"),
        (b'{"x": {"a": 1}} {', "the body must be JSON; extra data at line 1, column 17"),
        (b'{"x": {"a": NaN}}', "the body must be JSON, which has no NaN; send null where a value is missing"),
        (
            b'{"x": {"a": -Infinity}}',
            "the body must be JSON, which has no -Infinity; send null where a value is missing",
        ),
        (b'{"x": {"a": 1, "b": 2, "a": 3}}', "the body must have every name once in an object; 'a' is there twice"),
        (b'{"x": {"a": "\xff"}}', "the body must be UTF-8; byte 13 is not"),
        (b'{"x": {"a": "\xed\xa0\x80"}}', "the body must be UTF-8; byte 13 is not"),
        (b'\xef\xbb\xbf{"x": {"a": 1}}', "the body must be JSON; expecting value at line 1, column 1"),
        (b"[" * 9_000 + b"]" * 9_000, "the body must have at most 20 levels of objects and lists"),
        (b'{"x": {"a": ' + b"9" * 5_000 + b"}}", "the body must have numbers of at most 4,300 digits"),
        (
            b'{"x": {"a": "' + b"\x00" + b'"}}',
            "the body must be JSON; invalid control character at at line 1, column 14",
        ),
    ],
)
def test_what_is_no_json_is_400(service, content, message):
    assert refused(service, "/models/spam/predictions", 400, content=content) == {"error": message}


NO_VALUE = "must be a number, a string, true, false or null; received"


@pytest.mark.parametrize(
    ("path", "body", "where", "message"),
    [
        ("spam/predictions", [], "the body", "the body must be an object, or a list of at least one; received []"),
        ("spam/predictions", 3, "the body", "the body must be an object with x; received 3"),
        ("spam/predictions", "abc", "the body", "the body must be an object with x; received 'abc'"),
        ("spam/predictions", [{"x": {"a": 1}}] * 5, "the body", "the body must be an object, or a list of at most 4; received 5; send several requests"),
        ("spam/predictions", {}, "x", "x is missing; the body must be an object with x"),
        ("spam/predictions", {"x": {}, "ix": 1}, "ix", "ix is not a field; the fields are x, id; did you mean 'x'?"),
        ("spam/predictions", [{"x": {"a": 1}}, {"id": "q"}], "[1].x", "[1].x is missing; [1] must be an object with x"),
        ("spam/predictions", [{"x": {"a": 1}}, 7], "[1]", "[1] must be an object with x; received 7"),
        ("spam/predictions", {"x": 3}, "x", "x must be an object of values by name, or a list of numbers, or a string; received 3"),
        ("spam/predictions", [{"x": {"a": 1}}, {"x": {"b": 1, "price": {}}}], "[1].x.price", f"[1].x.price {NO_VALUE} {{}}"),
        ("spam/predictions", {"x": {"price": [1]}}, "x.price", f"x.price {NO_VALUE} [1]"),
        ("spam/predictions", {"x": [1, [2]]}, "x[1]", f"x[1] {NO_VALUE} [2]"),
        ("spam/predictions", {"x": {"a": HUGE}}, "x.a", "x.a must be a number of at most 1.7976931348623157e308; received a larger one"),
        ("spam/predictions", {"x": dict.fromkeys("abcdef", 1)}, "x", "x must be of at most 5 features; received 6"),
        ("spam/predictions", {"x": {"n" * 51: 1}}, None, "must have a name of at most 50 characters"),
        ("spam/predictions", {"x": {"a": "t" * 51}}, "x.a", "x.a must be of at most 50 characters; received 51"),
        ("spam/predictions", {"id": "", "x": {"a": 1}}, "id", "id must be a string of 1 to 256 printable characters; received ''"),
        ("spam/predictions", {"id": "i" * 257, "x": {"a": 1}}, "id", "id must be a string of 1 to 256 printable characters; received 257 characters"),
        ("spam/predictions", {"id": 7, "x": {"a": 1}}, "id", "id must be a string of 1 to 256 printable characters; received 7"),
        ("spam/predictions", {"id": "a\0b", "x": {"a": 1}}, "id", "id must be text without the character NUL; received 'a\\x00b'"),
        ("spam/predictions", {"x": {"a\0": 1}}, "a name in x", "a name in x must be text without the character NUL; received 'a\\x00'"),
        ("spam/predictions", {"x": {"a": "\ud800"}}, "x.a", "x.a must be text without half of a surrogate pair; received '\\ud800'"),
        ("spam/predictions", {"advice": {"a": 1}}, "advice", "advice is not a field; the fields are x, id"),
        ("spam/predictions", {"x": {"a": "text"}}, None, "must be a finite number; received 'text'"),
        ("spam/labels", {"id": "q"}, "label", "label is missing; the body must be an object with id and label"),
        ("spam/labels", {"id": None, "label": "ham"}, "id", "id must be a string; received None"),
        ("spam/labels", {"id": "q", "label": None}, "label", "label must be a number, a string, true, false; received None"),
        ("spam/labels", {"id": "q", "label": {}}, "label", "label must be a number, a string, true, false; received {}"),
        ("spam/labels", {"id": "q", "outcome": "ham"}, "outcome", "outcome is not a field; the fields are id, label"),
        ("spam/examples", {"x": {"a": 1}}, "label", "label is missing; the body must be an object with x and label"),
        ("spam/examples", {"x": {"a": 1}, "label": "eggs"}, None, "must be 'ham' or 'spam'; received 'eggs'"),
        ("price/examples", {"x": {"a": 1}, "label": "cheap"}, None, "received 'cheap'"),
        ("mix/predictions", {"x": [1, 2]}, "x", "x is not a field; the fields are advice, id"),
        ("mix/predictions", {"advice": "a"}, "advice", "advice must be an object of values by name, or a list of numbers; received 'a'"),
        ("mix/predictions", {"advice": [1, ["a"]]}, "advice[1][0]", "advice[1][0] must be a number; received 'a'"),
        ("mix/predictions", {"advice": [1, 2, 3]}, None, "received an array of shape (3,)"),
        ("spam/predictions", [{"x": {"a": 1}}, {"x": {"a": "text"}}], "[1].x", "[1].x['a'] must be a finite number; received 'text'"),
        ("mix/predictions", [{"advice": [1, 2]}, {"advice": [1]}], "[1].advice", "[1].advice must be one number for each of the 2 experts; received an array of shape (1,)"),
        ("price/examples", {"x": {"a": 1}, "label": "cheap"}, "label", "label must be a finite number; received 'cheap'"),
        ("mix/labels", {"id": "q", "label": 1}, "label", "label is not a field; the fields are id, outcome"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_named(service, path, body, where, message):
    found = refused(service, f"/models/{path}", 422, body=body)
    assert message in found["error"]
    if where is not None:
        assert (found["where"], found["error"]) == (where, message)


def test_a_number_that_is_too_large_for_a_float_is_refused(service):
    found = refused(service, "/models/spam/predictions", 422, content=b'{"x": {"a": 1e999}}')
    assert found["where"] == "x.a"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, "none"),
        ("text/plain", "'text/plain'"),
        ("application/x-www-form-urlencoded", "'application/x-www-form-urlencoded'"),
        ("application/json; charset=latin-1", "'application/json; charset=latin-1'"),
    ],
)
def test_another_content_type_is_415(service, given, shown):
    headers = {"content-type": given}
    found = refused(service, "/models/spam/predictions", 415, body={"x": {"a": 1}}, headers=headers)
    assert found == {"error": f"Content-Type must be application/json (UTF-8); received {shown}"}


@pytest.mark.parametrize(
    "given",
    ["application/json", "Application/JSON", 'application/json; charset="utf-8"', "application/json;charset=UTF-8"],
)
def test_the_content_type_may_be_written_in_other_ways(service, given):
    answer = service.ask("POST", "/models/spam/predictions", {"x": {"a": 1}}, {"content-type": given})
    assert answer.status == 200


def test_a_body_that_is_too_large_is_413_before_it_is_read(service):
    large = json.dumps({"x": {"a": "t" * 30_000}}).encode()
    message = "the body must have at most 20,000 bytes; send several smaller requests"
    announced = {"headers": {"content-length": "30000"}, "parts": []}
    for request in ({"content": large}, {"parts": [large[:15_000], large[15_000:]]}, {"parts": [large]}, announced):
        assert refused(service, "/models/spam/predictions", 413, **request) == {"error": message}
    answer = service.ask("POST", "/models/spam/predictions", content=large)
    assert answer.headers["connection"] == "close"


def test_a_body_may_come_in_parts(service):
    content = json.dumps({"id": "parts", "x": {"a": 1}}).encode()
    answer = service.ask("POST", "/models/spam/predictions", parts=[content[:5], b"", content[5:]])
    assert (answer.status, answer.json["id"]) == (200, "parts")


@pytest.mark.parametrize("depth", [19, 21, 200, 900, 990, 2_000, 100_000])
def test_what_is_nested_too_deeply_is_refused_everywhere(tmp_path, depth):
    service = InProcess(tmp_path / "a.db")
    try:
        service.ask("PUT", "/models/a", {"learner": "perceptron"})
        service.ask("PUT", "/models/mix", {"learner": "mlpol", "options": {"n_experts": 2}})
        for opening, closing in (
            ("[", "]"),
            ('{"a": ', "}"),
            ('{"learner": "one-vs-rest", "options": {"learner": ', "}}"),
        ):
            value = opening * depth + "1" + closing * depth
            for method, path, body in (
                ("POST", "a/predictions", '{"x": {"a": %s}}'),
                ("POST", "a/predictions", '{"x": [%s]}'),
                ("POST", "a/predictions", '{"x": {"\\u0061": %s}}'),
                ("POST", "a/predictions", "%s"),
                ("POST", "a/labels", '{"id": "q", "label": %s}'),
                ("POST", "a/freeze", "%s"),
                ("POST", "mix/predictions", '{"advice": [%s, 1]}'),
                ("PUT", "new", '{"learner": "perceptron", "options": {"rate": %s}}'),
                ("PUT", "new", '{"learner": "one-vs-rest", "options": {"learner": %s}}'),
                ("PUT", "new", '{"learner": "perceptron", "schema": {"columns": %s}}'),
            ):
                answer = service.ask(method, f"/models/{path}", content=(body % value).encode())
                assert answer.status in (400, 422), (path, body, answer.body)
                assert len(answer.error) < 500
        assert service.events("a") == 1
    finally:
        service.close()


def test_text_may_be_any_text(service):
    for text in ("\U0001f600", "é", '"\\'):
        answer = service.ask("POST", "/models/spam/predictions", {"id": text, "x": {text: 1}})
        assert answer.status == 200, answer.body
        assert answer.json["id"] == text


def test_a_file_is_limited_too(service):
    headers = {"content-type": "application/octet-stream"}
    answer = service.ask("PUT", "/models/new/file", content=b"x" * 1_001, headers=headers)
    assert answer.status == 413
    answer = service.ask("PUT", "/models/new/file", content=b"x" * 1_000, headers=headers)
    assert answer.status == 422
    assert "model file" in answer.error


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], "the body"),
        ({}, "learner"),
        ({"learner": 3}, "learner"),
        ({"learner": "perceptron", "options": []}, "options"),
        ({"learner": "perceptron", "schema": 7}, "schema"),
        ({"learner": "perceptron", "lables": ["a", "b"]}, "lables"),
        ({"learner": "perceptrum"}, None),
        ({"learner": "perceptron", "options": {"labels": ["a"]}}, None),
        ({"learner": "perceptron", "options": {"nonsense": 1}}, None),
        ({"learner": "perceptron", "schema": {"columns": [{"name": "a", "kind": "?"}]}}, None),
    ],
)
def test_a_model_that_cannot_be_made_is_refused(service, body, where):
    before = len(service.engine.models())
    answer = service.ask("PUT", "/models/new", body)
    assert (answer.status, len(service.engine.models())) == (422, before), answer.body
    assert where is None or answer.json["where"] == where


@pytest.mark.parametrize("name", [".", "..", "-a", "a%b", "a b", "é", "a" * 101, "a\0"])
def test_the_name_of_a_model_is_no_path(service, name):
    for method, part in (("PUT", ""), ("GET", ""), ("POST", "/predictions"), ("GET", "/file")):
        answer = service.ask(method, f"/models/{name}{part}", {"learner": "perceptron"})
        assert (answer.status, answer.json["where"]) == (422, "model")


def test_there_is_room_for_so_many_bodies_at_the_same_time(tmp_path):
    service = InProcess(tmp_path / "a.db")
    try:
        service.ask("PUT", "/models/a", {"learner": "perceptron"})
        large = json.dumps([{"x": {"a": i}} for i in range(9_000)]).encode()
        room = service.service.room
        seen = []
        submit = service.engine.submit_async
        service.engine.submit_async = lambda operation: seen.append(room.held) or submit(operation)
        halves = [large[:100_000], large[100_000:]]
        assert [
            service.ask("POST", "/models/a/predictions", **each).status
            for each in ({"content": large}, {"parts": halves})
        ] == [200, 200]
        assert (seen, room.held) == ([len(large)] * 2, 0)
        room._most = len(large) - 1
        for request in ({"content": large}, {"parts": halves}):
            answer = service.ask("POST", "/models/a/predictions", **request)
            assert (answer.status, answer.headers["retry-after"], room.held) == (503, "1", 0)
        # A caller that goes away leaves nothing behind, and gets no answer.
        answer = service.ask("POST", "/models/a/predictions", parts=[large[:100_000]], gone=True)
        assert (answer.status, room.held) == (0, 0)
        assert service.service.requests.counts["POST", "/models/{model}/predictions", 499] == 1
    finally:
        service.close()


# ------------------------------------------------------------------ anything

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(HUGE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
fields = st.sampled_from(["id", "x", "label", "advice", "outcome", "learner", "options", "schema", "price"])
requests = st.dictionaries(fields, json_values, max_size=4)
texts = st.one_of(
    st.one_of(json_values, requests, st.lists(requests, max_size=3)).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=40),
)
paths = st.sampled_from(
    [
        f"/models/{model}{part}"
        for model in ("spam", "price", "mix", "none")
        for part in ("/predictions", "/labels", "/examples", "/freeze")
    ]
)


@given(texts, paths, st.sampled_from(["POST", "PUT", "GET", "DELETE", "PATCH"]), st.booleans())
def test_whatever_is_sent_is_answered(service, content, path, method, cut):
    request = {"parts": [content[:3], content[3:]]} if cut else {"content": content}
    answer = service.ask(method, path, **request)
    assert 200 <= answer.status < 500, answer.body
    found = answer.json
    if answer.status >= 400:
        assert isinstance(found["error"], str)
        assert "Traceback" not in found["error"]
