"""Columns become features by one meaning, whatever the rows came in: against a slow oracle, and format against format."""

import csv
import datetime
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import afterwit as aw
import naive_schema
from afterwit.errors import InputError, StreamError
from afterwit.streams.schema import Schema, schema_from

WORDS = st.sampled_from(["red", "green", "blue", "a-b", "äö", "x1", "Red", "no_w"])
NUMBERS = st.one_of(
    st.integers(-1000, 1000).map(float),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x + 0.0),
    st.sampled_from([0.0, 1e-12, 1e12, 0.1]),
)
TIMES = st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1)).map(
    lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)
)
CELLS = {"number": NUMBERS, "category": WORDS, "boolean": st.booleans(), "time": TIMES}
CELLS["words"] = st.lists(st.sampled_from(["free", "Call", "now", "a", "1st", "it's"]), min_size=1, max_size=6).map(
    " ".join
)


@st.composite
def tables(draw, kinds=tuple(CELLS), missing=True):
    """Records with a target, and the kind of every column; no column is empty or could be taken for another."""
    count = draw(st.integers(2, 12))
    columns = [f"{kind[0]}{j}" for j, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5)))]
    kind_of = {name: next(kind for kind in kinds if kind[0] == name[0]) for name in columns}
    records = []
    for i in range(count):
        record = {}
        for name, kind in kind_of.items():
            gone = missing and i > 0 and draw(st.booleans())
            record[name] = None if gone else draw(CELLS[kind])
        record["y"] = ["no", "yes"][i % 2 if i < 2 else draw(st.integers(0, 1))]
        records.append(record)
    for name, kind in kind_of.items():
        if kind == "category" and records[0][name] is None:
            records[0][name] = "red"
    return records, kind_of


def wishes(kinds):
    return {
        "target": "y",
        "text": [name for name, kind in kinds.items() if kind == "words"],
        "time": [name for name, kind in kinds.items() if kind == "time"],
        "categorical": [name for name, kind in kinds.items() if kind == "category"],
    }


def as_csv(path, records, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for record in records:
            writer.writerow(["" if record[name] is None else shown(record[name]) for name in columns])
    return path


def shown(cell):
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell) if isinstance(cell, float) else str(cell)


def as_json_lines(path, records, columns):
    def plain(cell):
        return cell.isoformat() if isinstance(cell, datetime.datetime) else cell

    lines = [
        json.dumps({name: plain(record[name]) for name in columns if record[name] is not None}) for record in records
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def as_arrow(records, columns):
    return pa.table({name: [record[name] for record in records] for name in columns})


def as_vw(path, records, kinds):
    """Numbers as name:value, categories and truth values as names, words in a namespace of their own."""
    lines = []
    for record in records:
        parts = []
        for name, kind in kinds.items():
            found = naive_schema.of_cell(name, kind, record[name])
            namespace = name if kind == "words" else ""
            plain = [(feature.removeprefix(f"{name}^"), value) for feature, value in found]
            parts.append(f"|{namespace} " + " ".join(f"{feature}:{value!r}" for feature, value in plain))
        lines.append(f"{1 if record['y'] == 'yes' else -1} " + " ".join(parts))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@given(tables(), st.booleans(), st.booleans(), st.integers(1, 3))
def test_features_are_those_of_the_oracle(table, missing, binary, ngrams):
    records, kinds = table
    how = {"missing": missing, "ngrams": ngrams}
    interactions = [tuple(kinds)[:2]] if len(kinds) > 1 else []
    stream = aw.read(records, **wishes(kinds), **how, words="binary" if binary else "counts", interactions=interactions)
    expected = [naive_schema.features(record, kinds, interactions, binary=binary, **how) for record in records]
    found = list(stream)
    assert [list(x.items()) for x, _ in found] == [list(each.items()) for each in expected]
    assert [y for _, y in found] == [record["y"] for record in records]
    # A record alone has the same features, in the same order.
    for record, each in zip(records, expected, strict=True):
        assert list(stream.schema.features(record).items()) == list(each.items())
    assert schema_from(json.loads(json.dumps(stream.schema.as_data()))) == stream.schema


@given(st.data())
def test_every_format_makes_the_same_learner(tmp_path_factory, data):
    records, kinds = data.draw(tables())
    folder = tmp_path_factory.mktemp("same")
    columns = [*kinds, "y"]
    said = wishes(kinds)
    first = aw.read(records, **said)
    learner = aw.AdaGrad(labels=("no", "yes"))
    aw.play(learner, first)
    table = as_arrow(records, columns)
    pa.parquet.write_table(table, folder / "t.parquet")
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    sources = {
        "csv": as_csv(folder / "t.csv", records, columns),
        "json": as_json_lines(folder / "t.jsonl", records, columns),
        "parquet": folder / "t.parquet",
        "arrow": folder / "t.arrow",
        "sql": f"SELECT * FROM '{folder / 't.parquet'}'",
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "pyarrow": table,
    }
    for name, source in sources.items():
        twin = aw.AdaGrad(labels=("no", "yes"))
        # By the first schema, and by its own.
        for schema in (first.schema, None):
            twin = aw.AdaGrad(labels=("no", "yes"))
            stream = aw.read(source, schema=schema) if schema else aw.read(source, **said)
            record = aw.play(twin, stream)
            assert record.rounds == len(records)
            assert twin == learner, name
            assert twin.state()["names"] == learner.state()["names"], name
    model = aw.Model(first.schema, aw.AdaGrad(labels=("no", "yes")))
    for each in records:
        model.learn_one(each)
    assert model.learner == learner
    signed = aw.AdaGrad()
    aw.play(signed, aw.read(as_vw(folder / "t.vw", records, kinds)))
    assert signed.weights == learner.weights


def test_a_schema_is_decided_and_described():
    records = [
        {
            "n": 1,
            "c": "red",
            "b": True,
            "when": datetime.datetime(2024, 1, 31, 13),
            "t": "Free call",
            "i": 7,
            "y": i % 2,
        }
        for i in range(4)
    ]
    stream = aw.read(records, target="y", text=["t"], categorical=["i"], ignore=["n"], interactions=["c*b"])
    assert stream.schema.describe() == (
        "target    y\n"
        "category  c, i\n"
        "boolean   b\n"
        "words     t\n"
        "products  c*b\n"
        "left out  n (ignored), when (a time; --time gives its hour, weekday and month)"
    )
    assert (stream.task, stream.labels) == ("binary", (0, 1))
    assert stream.schema.features(records[0]) == {
        "c=red": 1.0, "b=true": 1.0, "t^free": 1.0, "t^call": 1.0, "i=7": 1.0, "c=red*b=true": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "task", "pair"),
    [
        (["ham", "spam"], "binary", ("ham", "spam")),
        (["spam", "ham"], "binary", ("ham", "spam")),
        ([True, False], "binary", (False, True)),
        ([3, 1], "binary", (1, 3)),
        ([1, 1], "binary", (-1, 1)),
        ([0, 0], "binary", (0, 1)),
        (["a", "b", "c"], "classes", None),
        ([1, 2, 3], "classes", None),
        ([0.5, 1.5, 2.5], "regression", None),
        (list(range(30)), "regression", None),
        ([0.5, 1.5], "binary", (0.5, 1.5)),
    ],
)
def test_the_task_follows_from_the_target(tmp_path, labels, task, pair):
    records = [{"x": 1.5, "y": label} for label in labels]
    as_csv(tmp_path / "t.csv", [{**each, "y": each["y"]} for each in records], ["x", "y"])
    for source in (records, tmp_path / "t.csv"):
        stream = aw.read(source, target="y")
        assert (stream.task, stream.labels) == (task, pair)
        assert [y for _, y in stream] == labels


def test_one_label_in_text_asks_for_the_other():
    with pytest.raises(StreamError, match=r"the records: all labels are ham; give the two labels with --labels"):
        aw.read([{"x": 1, "y": "ham"}], target="y")
    assert aw.read([{"x": 1, "y": "ham"}], target="y", labels=("ham", "spam")).labels == ("ham", "spam")


def test_the_second_label_is_found_far_behind(tmp_path):
    records = [{"x": 1.0, "y": "b"}] * 1500 + [{"x": 1.0, "y": "a"}]
    path = as_csv(tmp_path / "t.csv", records, ["x", "y"])
    assert aw.read(path, target="y").labels == ("a", "b")


def test_a_label_that_comes_later_is_named_with_its_place(tmp_path):
    records = [{"x": 1.0, "y": ["a", "b"][i % 2]} for i in range(1200)] + [{"x": 1.0, "y": "c"}]
    path = as_csv(tmp_path / "t.csv", records, ["x", "y"])
    learner = aw.Perceptron(labels=("a", "b"))
    with pytest.raises(StreamError, match=r"t\.csv, line 1202: found the label c where a or b was expected"):
        aw.play(learner, aw.read(path, target="y"))
    table = as_arrow(records, ["x", "y"])
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(StreamError, match=r"t\.parquet, row 1,201: found the label c"):
        aw.play(aw.Perceptron(labels=("a", "b")), aw.read(tmp_path / "t.parquet", target="y"))


def test_a_column_that_turns_from_numbers_to_words_is_named(tmp_path):
    records = [{"x": 1.0, "y": i % 2} for i in range(1000)] + [{"x": "many", "y": 1}]
    path = as_csv(tmp_path / "t.csv", records, ["x", "y"])
    with pytest.raises(StreamError, match=r"t\.csv, line 1002: column x: .*number.* found 'many'"):
        list(aw.read(path, target="y"))
    path = as_json_lines(tmp_path / "t.jsonl", records, ["x", "y"])
    with pytest.raises(StreamError, match=r"t\.jsonl, line 1001: .*x.*number.*many"):
        list(aw.read(path, target="y"))
    with pytest.raises((StreamError, InputError), match=r"1,?001.*x.*number.*many"):
        list(aw.read(records, target="y"))


def test_missing_labels_are_predicted_and_not_learned(tmp_path):
    records = [{"x": float(i), "y": None if i % 3 == 0 else ["a", "b"][i % 2]} for i in range(50)]
    learner = aw.Perceptron(labels=("a", "b"))
    expected = []
    for record in records:
        expected.append(learner.predict_one({"x": record["x"]}))
        if record["y"] is not None:
            learner.learn_one({"x": record["x"]}, record["y"])
    for source in (records, as_csv(tmp_path / "t.csv", records, ["x", "y"])):
        twin = aw.Perceptron(labels=("a", "b"))
        record = aw.play(twin, aw.read(source, target="y"), predictions=True)
        assert (record.rounds, record.unlabelled) == (33, 17)
        assert record.predictions.tolist() == expected
        assert twin == learner
        assert "without a label: 17 examples" in str(record)
        assert record.certificate().rounds == 33


def test_a_weight_is_how_often_a_row_is_learned():
    weights = [1, 3, 0, 2, 1]
    records = [{"x": float(i + 1), "w": w, "y": i % 2} for i, w in enumerate(weights)]
    learner = aw.Perceptron(labels=(0, 1))
    for record in records:
        for _ in range(record["w"]):
            learner.learn_one({"x": record["x"]}, record["y"])
    twin = aw.Perceptron(labels=(0, 1))
    record = aw.play(twin, aw.read(records, target="y", weight="w"))
    assert twin == learner
    assert (record.rounds, record.unlabelled) == (7, 1)
    for bad in (0.5, -1, None):
        with pytest.raises(StreamError, match=r"row 2.*column w: a whole number"):
            list(aw.read([*records[:1], {**records[1], "w": bad}], target="y", weight="w", labels=(0, 1)))


def test_predicting_needs_no_weight_and_gives_one_prediction_for_each_row(tmp_path):
    records = [{"x": float(i % 5), "w": i % 4, "y": "ab"[i % 2]} for i in range(20)]
    stream = aw.read(records, target="y", weight="w")
    model = aw.Model(stream.schema, aw.AdaGrad(labels=stream.labels))
    aw.play(model, stream)
    expected = [model.predict_one(record) for record in records]
    without = [{"x": record["x"]} for record in records]
    as_csv(tmp_path / "t.csv", without, ["x"])
    for source in (records, without, pd.DataFrame(records), pd.DataFrame(without), tmp_path / "t.csv"):
        assert model.predict_many(source).tolist() == expected
    assert len(model.predict_proba_many([{**record, "w": None} for record in records])) == 20


def test_records_are_learned_as_often_as_their_weight_says():
    records = [{"x": float(i % 5), "w": i % 4, "y": "ab"[i % 2]} for i in range(20)]
    stream = aw.read(records, target="y", weight="w")
    played, by_one, by_many = (aw.Model(stream.schema, aw.AdaGrad(labels=stream.labels)) for _ in range(3))
    aw.play(played, stream)
    for record in records:
        before = by_one.predict_one(record)
        assert by_one.learn_one(record) == before
    by_many.learn_many(records)
    assert played == by_one == by_many
    assert played.rounds == sum(record["w"] for record in records)
    assert by_one.learn_one({"x": 1.0}, "a") in ("a", "b")
    for bad in (0.5, -1, None, "2"):
        with pytest.raises(InputError, match="the value of w must be a whole number"):
            by_one.learn_one({"x": 1.0, "w": bad}, "a")
    with pytest.raises(InputError, match="y must be left out, because a record is learned as often as its w says"):
        by_many.learn_many(records, [record["y"] for record in records])


def test_labels_that_are_given_are_one_for_each_record():
    records = [{"x": float(i % 5), "y": None if i % 3 else "b"} for i in range(20)]
    stream = aw.read(records, target="y", labels=("a", "b"))
    model, twin = aw.Model(stream.schema, aw.AdaGrad(labels=("a", "b"))), aw.AdaGrad(labels=("a", "b"))
    labels = ["ab"[i % 2] for i in range(20)]
    expected = [twin.learn_one({"x": record["x"]}, label) for record, label in zip(records, labels, strict=True)]
    for wrong in (labels[:-1], [*labels, "a"]):
        with pytest.raises(InputError, match=f"y must be a label for each of 20 records; received {len(wrong)} labels"):
            model.learn_many(records, wrong)
    assert model.learn_many(records, labels).tolist() == expected
    assert model.learner == twin


def test_however_large_a_weight_is_its_rounds_come_in_blocks():
    records = [{"x": 1.0, "w": 2**31 - 1, "y": 0}, {"x": 2.0, "w": 1, "y": 1}]
    with aw.read(records, target="y", weight="w").reader() as reader:
        for count in (1, 3, 10**9):
            rows, labels = reader.take(count)
            assert 1 <= rows.count == len(labels) <= min(count, 65_536)
            assert set(labels.tolist()) == {0}


@pytest.mark.parametrize("kind", ["records", "jsonl", "parquet", "pandas", "polars"])
def test_numbers_that_are_written_as_text_are_those_of_csv(tmp_path, kind):
    """As csv.DictReader and many web services have them."""
    texts = ["1", "-2.50", "", "1e3", "NA", ".5", "007"] * 3
    records = [{"x": x, "paid": ["true", "False"][i % 2], "y": str(i % 2)} for i, x in enumerate(texts)]
    as_csv(tmp_path / "t.csv", records, ["x", "paid", "y"])
    source = tmp_path / f"t.{kind}"
    if kind == "records":
        source = records
    elif kind == "jsonl":
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
    elif kind == "parquet":
        pd.DataFrame(records).to_parquet(source)
    else:
        source = pd.DataFrame(records) if kind == "pandas" else pl.DataFrame(records)
    stream, same = aw.read(source, target="y"), aw.read(tmp_path / "t.csv", target="y")
    assert (stream.schema, stream.labels) == (same.schema, same.labels)
    expected = list(same)
    assert list(stream) == expected
    assert expected[0] == ({"x": 1.0, "paid=true": 1.0}, 0)
    x = [stream.schema.features({**record, "y": None}) for record in records]
    assert x == [features for features, _ in expected]


@pytest.mark.parametrize("kind", ["records", "pandas", "polars"])
def test_numbers_that_are_written_as_text_are_sorted_as_those_of_csv(tmp_path, kind):
    records = [{"x": str(x), "y": str(i % 2), "z": "1"} for i, x in enumerate([10, 9, "", 1e3, -2, "2e-3", 9])]
    as_csv(tmp_path / "t.csv", records, ["x", "y", "z"])
    source = pl.DataFrame(records) if kind == "polars" else pd.DataFrame(records) if kind == "pandas" else records
    expected = list(aw.read(tmp_path / "t.csv", target="y", order_by="x"))
    assert [features.get("x") for features, _ in expected] == [-2, 0.002, 9, 9, 10, 1000, None]
    assert list(aw.read(source, target="y", order_by="x")) == expected


def test_text_among_numbers_is_named_with_its_place():
    records = [{"x": str(i), "y": i % 2} for i in range(1500)]
    records[1200]["x"] = "many"
    with pytest.raises(StreamError, match=r"row 1,201: column '?x'?: a number or nothing was expected; found 'many'"):
        list(aw.read(records, target="y"))
    with pytest.raises(StreamError, match=r"row 1,201: column '?x'?: a number or nothing was expected; found 'many'"):
        list(aw.read(pd.DataFrame(records), target="y"))


@pytest.mark.parametrize("bits", [1, 3, 16])
def test_hashed_features_have_their_documented_positions(bits):
    records = [{"n": float(i), "c": f"v{i % 5}", "y": i % 2} for i in range(20)]
    stream = aw.read(records, target="y", hash_bits=bits)
    expected = np.zeros(2**bits)
    learner = aw.Perceptron(labels=(0, 1))
    twin = aw.Perceptron(labels=(0, 1))
    aw.play(learner, stream)
    for record in records:
        row = np.zeros(2**bits)
        for name, value in naive_schema.features(record, {"n": "number", "c": "category"}).items():
            row[naive_schema.hashed_position(name, bits)] += value
        twin.learn_one(row, record["y"])
        expected += row
    assert np.array_equal(learner.weights, twin.weights)
    names = ["n", *(f"c=v{i}" for i in range(5))]
    positions = [naive_schema.hashed_position(name, bits) for name in names]
    shared = sum(positions.count(position) > 1 for position in set(positions))
    assert (stream.schema.hash.used, stream.schema.hash.shared) == (len(set(positions)), shared)
    model = aw.Model(stream.schema, learner)
    one_by_one = aw.Model(stream.schema, aw.Perceptron(labels=(0, 1)))
    for record in records:
        one_by_one.learn_one(record)
    assert one_by_one == model
    row = stream.schema.features(records[3])
    assert model.predict_one(records[3]) == learner.predict_one(row)
    assert np.array_equal(model.score_many(records), [learner.score_one(stream.schema.features(r)) for r in records])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "target: there is no column 'z'. Columns: c, n, y"),
        ({"numeric": ["m"]}, "numeric: there is no column 'm'. Columns: c, n, y"),
        ({"numeric": "n"}, "numeric must be a sequence of names of columns; received 'n'"),
        ({"numeric": ["n"], "ignore": ["n"]}, "ignore must be columns that nothing else is said about; received 'n'"),
        ({"time": {"c": ["year"]}}, "time must be parts among hour, weekday, month; received 'year'"),
        ({"words": "tf"}, "words must be 'counts' or 'binary'; received 'tf'"),
        ({"ngrams": 0}, "ngrams must be a whole number, at least 1; received 0"),
        ({"interactions": ["n"]}, "interactions must be products of different columns, such as a*b; received 'n'"),
        ({"interactions": ["n*q"]}, "interactions: there is no column 'q'. Columns: c, n"),
        ({"hash_bits": 40}, "hash_bits must be a whole number from 1 to 28; received 40"),
        ({"task": "many"}, "task must be one of binary, classes, regression; received 'many'"),
        ({"on_error": "ignore"}, "on_error must be 'stop' or 'skip'; received 'ignore'"),
        ({"format": "xls"}, "format must be one of libsvm, vw, csv, json, parquet, arrow; received 'xls'"),
    ],
)
def test_mistakes_of_the_caller(options, message):
    records = [{"n": 1, "c": "red", "y": 0}, {"n": 2, "c": "blue", "y": 1}]
    with pytest.raises(InputError) as raised:
        aw.read(records, **{"target": "y", **options})
    assert message in str(raised.value)


def test_lists_and_structs_say_what_to_do():
    with pytest.raises(InputError, match=r"column tags holds values of the kind list.*--ignore tags.*--sql"):
        aw.read([{"tags": [1, 2], "y": 0}], target="y")
    stream = aw.read([{"tags": [1, 2], "x": 1, "y": 0}], target="y", ignore=["tags"])
    assert stream.schema.describe() == "target    y\nnumber    x\nleft out  tags (ignored)"


@pytest.mark.parametrize(
    ("cells", "name", "value"),
    [
        (pa.array([[7.0, 2.0]]), "first", 7.0),
        (pa.array([{"a": 7.0}]), "a", 7.0),
        (pa.array([[("key", 7.0)]], pa.map_(pa.string(), pa.float64())), "one", 7.0),
        (pa.array([datetime.time(13, 45)]), "hour", 13.0),
    ],
)
def test_the_query_that_is_suggested_works(tmp_path, cells, name, value):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({'my "own"': cells, "y": [0]}), path)
    with pytest.raises(InputError) as caught:
        aw.read(path, target="y")
    query = str(caught.value).split("such as ")[1].replace("...", f"'{path}'")
    assert list(aw.read(query, target="y")) == [({name: value}, 0)]


def test_what_cannot_be_taken_apart_can_be_left_out():
    table = pa.table({"code": pa.array([b"7"]), "y": [0]})
    with pytest.raises(
        InputError, match=r"of the kind binary, which are no features; leave it out with --ignore code$"
    ):
        aw.read(table, target="y")


def test_records_with_strangers_are_refused():
    schema = aw.read([{"price": 1, "y": 0}], target="y").schema
    with pytest.raises(InputError, match=r"there is no column 'pirce'\. Did you mean 'price'"):
        schema.features({"pirce": 3})
    assert schema.features({"y": 1}) == {}
    assert schema.features({}) == {}


@pytest.mark.parametrize("cell", ["three", "1e400", "1_000", True, float("inf"), [1], datetime.date(2024, 1, 1)])
def test_a_cell_of_another_kind_is_refused(cell):
    schema = Schema(aw.read([{"price": 1, "y": 0}], target="y").schema.columns)
    if cell is True:
        assert schema.features({"price": cell}) == {"price": 1.0}
        return
    with pytest.raises(InputError, match="the value of price must be a"):
        schema.features({"price": cell})


def test_two_columns_must_not_make_the_same_feature():
    records = [{"c": "red", "c=red": 1, "y": i} for i in range(2)]
    with pytest.raises(InputError, match="no two make the same feature; received 'c=red'"):
        list(aw.read(records, target="y"))
    with pytest.raises(InputError, match="no two make the same feature"):
        aw.read(records, target="y").schema.features(records[0])
    assert len(list(aw.read([{"c": "blue", "c=red": 1, "y": 0}, {"c": "red", "y": 0}], target="y"))) == 2


def test_block_sizes_do_not_matter():
    rng = np.random.default_rng(0)
    records = [
        {
            "n": None if rng.random() < 0.2 else float(rng.normal()),
            "c": f"v{rng.integers(30)}",
            "y": int(rng.integers(2)),
        }
        for _ in range(300)
    ]
    stream = aw.read(records, target="y")
    whole = aw.AdaGrad(labels=(0, 1))
    for size in (1, 7, 300):
        learner = aw.AdaGrad(labels=(0, 1))
        with stream.reader() as reader:
            while (block := reader.take(size)) is not None:
                assert 1 <= block[0].count <= size
                learner.learn_many(*block)
        if size == 1:
            whole = learner
        assert learner == whole
        assert learner.state()["names"] == whole.state()["names"]


def test_what_is_read_once_says_so(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n1,0\n2,1\n")))
    stream = aw.read("-", target="y")
    assert len(list(stream)) == 2
    with pytest.raises(StreamError, match="standard input: it can be read only once"):
        list(stream)


def test_what_should_be_known_of_a_schema_is_noted(tmp_path):
    lines = ["price;size;mixed;name;y"]
    lines += [f"{i},5;{i};{'many' if i == 7 else i};someone {i};{i % 2}" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    stream = aw.read(tmp_path / "t.csv", target="y")
    decimal, mixed, different = stream.notes
    assert decimal.startswith("price looks like numbers with a decimal comma, such as '0,5': taken as a category")
    assert mixed.startswith("mixed holds numbers and other text, such as 'many' in line 9: taken as a category")
    assert different.startswith("name has 200 different values in the first 200 rows: taken as a category")
    assert stream.schema.describe() == "target    y\nnumber    size\ncategory  price, mixed, name"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_first_rows_are_those_of_as_many_files_as_it_takes(tmp_path, kind):
    """A first file of a few rows does not decide alone: not what is empty, not what is a number, not the task."""
    records = [
        {"a": None if i < 9 else "x", "b": 1.0 if i < 9 else i / 4, "c": "7" if i < 9 else "w", "y": i}
        for i in range(60)
    ]
    for part in range(20):
        rows, path = records[3 * part : 3 * part + 3], tmp_path / f"{part:02}.{kind}"
        if kind == "csv":
            as_csv(path, rows, list(records[0]))
        elif kind == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            schema = pa.schema([("a", pa.string()), ("b", pa.float64()), ("c", pa.string()), ("y", pa.int64())])
            pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    stream = aw.read(tmp_path, target="y")
    whole = aw.read(records, target="y")
    assert (stream.schema, stream.task) == (whole.schema, whole.task)
    assert stream.task == "regression"
    expected = list(whole)
    assert list(stream) == expected == list(stream)
    if kind == "csv":
        assert stream.notes == ()
        as_csv(
            tmp_path / "00.csv",
            [{**record, "b": "?" if record["y"] == 5 else 1.5} for record in records[:3]],
            list(records[0]),
        )
        as_csv(
            tmp_path / "01.csv",
            [{**record, "b": "?" if record["y"] == 5 else 1.5} for record in records[3:6]],
            list(records[0]),
        )
        (note,) = aw.read(tmp_path, target="y").notes
        assert f"'?' in {tmp_path / '01.csv'}, line 4" in note


def test_a_schema_of_many_columns_is_described_in_narrow_lines():
    names = [f"{'long ' * (i % 4)}name, {i}" for i in range(40)] + ["x" * 200]
    stream = aw.read([{**dict.fromkeys(names, 1.0), "y": i} for i in range(2)], target="y")
    for most in (12, 13, 100):
        lines = stream.schema.describe(most).splitlines()
        assert lines[0] == "target    y"
        assert all(line.startswith("number    " if i == 0 else " " * 10) for i, line in enumerate(lines[1:]))
        assert all(len(line) <= 80 or line[10:] == names[-1] for line in lines)
        assert all(line.endswith(",") for line in lines[1:-1])
        rest = [f"and {len(names) - most} more"] if most < len(names) else []
        assert " ".join(line[10:] for line in lines[1:]) == ", ".join([*names[:most], *rest])


def test_columns_of_a_further_file_that_the_first_one_lacks(tmp_path):
    as_csv(tmp_path / "a.csv", [{"x": 1.0, "y": 0}, {"x": 2.0, "y": 1}], ["x", "y"])
    as_csv(tmp_path / "b.csv", [{"y": 1, "z": 5.0, "x": 3.0}], ["y", "z", "x"])
    with pytest.raises(StreamError, match=r"b\.csv: 1 column not in .*a\.csv: z; leave out with --ignore"):
        list(aw.read(tmp_path, target="y"))
    (tmp_path / "b.csv").write_text("y,x\n1,3.0\n")
    assert list(aw.read(tmp_path, target="y")) == [({"x": 1.0}, 0), ({"x": 2.0}, 1), ({"x": 3.0}, 1)]
    (tmp_path / "b.csv").write_text("y\n1\n")
    with pytest.raises(StreamError, match=r"b\.csv: there is no column 'x'"):
        list(aw.read(tmp_path, target="y"))


def test_a_model_is_what_it_is_made_of(tmp_path):
    records = [{"c": ["red", "blue"][i % 2], "n": i, "y": ["a", "b"][i % 2]} for i in range(20)]
    stream = aw.read(records, target="y")
    model = aw.Model(stream.schema, aw.AdaGrad(labels=stream.labels))
    predicted = model.learn_many(records)
    twin = aw.AdaGrad(labels=stream.labels)
    assert [twin.learn_one(x, y) for x, y in stream] == predicted.tolist()
    assert model.learner == twin
    assert (model.rounds, model.labels, model.role) == (20, ("a", "b"), "classifier")
    aw.save(model, tmp_path / "m")
    again = aw.load(tmp_path / "m")
    assert again == model
    assert again.copy() == model
    frame = pd.DataFrame(records)
    assert model.predict_many(frame).tolist() == [model.predict_one(record) for record in records]
    assert model.predict_proba_many(records).tolist() == [list(model.predict_proba_one(r).values()) for r in records]
    assert model.certificate(records).bound == twin.certificate(stream).bound
    other = aw.Model(stream.schema, aw.AdaGrad(labels=stream.labels))
    assert other.learn_many(frame.drop(columns="y"), list(frame["y"])).tolist() == predicted.tolist()
    assert other == model
    with pytest.raises(InputError, match="y must be given, or there as 'y' in the record"):
        model.learn_one({"n": 3})
    with pytest.raises(InputError, match="schema must be what as_data"):
        aw.Model({"columns": 5}, twin)


@pytest.mark.parametrize("hash_bits", [None, 6])
@pytest.mark.parametrize("learner", [aw.Perceptron, aw.Committee])
def test_a_batch_of_no_records_has_no_predictions(hash_bits, learner):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "y": ["no", "yes"]})
    stream = aw.read(frame, target="y", hash_bits=hash_bits)
    model = aw.Model(stream.schema, learner(labels=stream.labels))
    aw.play(model, stream)
    for nothing in (frame.iloc[:0], []):
        assert model.predict_many(nothing).tolist() == []
        assert model.score_many(nothing).tolist() == []
        predictions, tickets = model.serve_many(nothing)
        assert (predictions.tolist(), tickets) == ([], [])
    with pytest.raises(StreamError, match="no examples were found"):
        aw.read([], target="y")


def test_sources_that_are_none():
    with pytest.raises(InputError, match=r"labels must be a sequence of labels, such as .*; received 'spam'"):
        aw.read([{"a": 1, "y": "s"}], target="y", labels="spam")
    with pytest.raises(StreamError, match="its columns must have different names; 'a' occurs twice"):
        aw.read(pd.DataFrame([[1, 2, 0]], columns=["a", "a", "y"]), target="y")
    with pytest.raises(InputError, match="or a path, a query or a list of dicts; received array"):
        aw.read(np.ones((2, 2)), target="y")
    with pytest.raises(InputError, match=r"of the kind binary, which are no features; leave it out with --ignore a$"):
        aw.read([{"a": b"x", "y": 0}], target="y")


@pytest.mark.parametrize("ask", ["predict_many", "score_many", "learn_many"])
def test_a_sparse_matrix_is_no_table_of_records(ask):
    stream = aw.read([{"a": 1, "y": "no"}, {"a": 2, "y": "yes"}], target="y")
    model = aw.Model(stream.schema, aw.Perceptron(labels=stream.labels))
    for X in (csr_array((2, 3)), csr_array((0, 3))):
        labels = ([],) if ask == "learn_many" else ()
        with pytest.raises(InputError, match="must be a DataFrame"):
            getattr(model, ask)(X, *labels)
