"""Rows that say whose they are: from any source, with a learner for each group, and models of them."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import afterwit as aw
from afterwit.errors import InputError, StreamError
from afterwit.streams.schema import schema_from


def records(count=60, seed=0):
    random = np.random.default_rng(seed)
    found = []
    for i in range(count):
        a = round(random.standard_normal(), 3)
        shop = int(random.integers(0, 4))
        label = None if i % 11 == 3 else "yes" if (a > 0) != (shop == 1) else "no"
        found.append({"shop": shop, "a": a, "kind": "xyz"[i % 3], "sold": label})
    return found


def by_hand(rows, name=str):
    """A dict of learners, one record after the other."""
    learners, mistakes = {}, 0
    for row in rows:
        if row["sold"] is not None:
            learner = learners.setdefault(name(row["shop"]), aw.SGD(labels=("no", "yes")))
            x = {"a": row["a"], f"kind={row['kind']}": 1.0}
            mistakes += learner.learn_one(x, row["sold"]) != row["sold"]
    return learners, mistakes


def written(form, rows, folder):
    frame = pl.DataFrame(rows)
    if form == "records":
        return rows
    if form == "pandas":
        return pd.DataFrame(rows)
    path = folder / f"rows.{form}"
    if form == "csv":
        frame.write_csv(path)
    elif form == "json":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        frame.write_parquet(path)
    return str(path)


@pytest.mark.parametrize("form", ["records", "pandas", "csv", "json", "parquet"])
def test_from_any_source(form, tmp_path):
    rows = records()
    stream = aw.read(written(form, rows, tmp_path), "sold", group="shop")
    model = aw.Model(stream.schema, aw.PerGroup(aw.SGD()))
    record = aw.play(model, stream)
    learners, mistakes = by_hand(rows)
    assert model.learner.groups == tuple(learners)
    assert all(model.learner[name] == learner for name, learner in learners.items())
    assert (record.rounds, record.mistakes, record.unlabelled) == (54, mistakes, 6)
    assert "group     shop" in stream.schema.describe()
    one_by_one = aw.Model(stream.schema, aw.PerGroup(aw.SGD(labels=("no", "yes"))))
    said = [one_by_one.predict_one(row) for row in rows]
    for row in rows:
        if row["sold"] is not None:
            one_by_one.learn_one(row)
    assert one_by_one == model
    assert said == ["yes"] * len(rows)
    assert model.predict_many(rows).tolist() == [model.predict_one(row) for row in rows]
    assert model.predict_proba_many(rows)[:, 1].tolist() == [model.predict_proba_one(row)["yes"] for row in rows]
    assert model.score_many(rows).tolist() == [model.score_one(row) for row in rows]
    assert model.predict_many([]).tolist() == []


def test_a_model_is_saved_and_goes_on(tmp_path):
    rows = records(80)
    stream = aw.read(rows[:50], "sold", group="shop")
    model = aw.Model(stream.schema, aw.PerGroup(aw.SGD()))
    aw.play(model, stream)
    aw.save(model, tmp_path / "m")
    found = aw.load(tmp_path / "m")
    assert found == model
    aw.play(found, rows[50:])
    assert {name: found.learner[name] for name in found.learner} == by_hand(rows)[0]
    assert schema_from(found.schema.as_data()) == found.schema


def test_certificates_are_those_of_the_groups():
    rows = [row for row in records(200) if row["sold"] is not None]
    stream = aw.read(rows, "sold", group="shop")
    model = aw.Model(stream.schema, aw.PerGroup(aw.Perceptron()))
    found = aw.play(model, stream).certificate()
    for name in found:
        own = [row for row in rows if str(row["shop"]) == name]
        each = aw.Perceptron(labels=("no", "yes"))
        X = [{"a": row["a"], f"kind={row['kind']}": 1.0} for row in own]
        y = [row["sold"] for row in own]
        each.learn_many(X, y)
        assert found[name].observed == each.mistakes
        assert found[name].bound == pytest.approx(each.certificate(X, y).bound, rel=1e-9)
    assert found.total.observed == model.mistakes
    assert model.certificate(rows).to_dict() == found.to_dict()


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([7, 12, 7], ["7", "12"]),
        ([0.5, 2.0, 2.0], ["0.5", "2"]),
        ([True, False, True], ["true", "false"]),
        (["007", "7", "é"], ["007", "7", "é"]),
        ([2**53 + 1, 2**53, 1], [str(2**53 + 1), str(2**53), "1"]),
        ([datetime.date(2026, 1, 2)] * 3, ["2026-01-02T00:00:00.000000"]),
    ],
)
def test_names_are_texts(values, names, tmp_path):
    frame = pl.DataFrame({"g": values, "a": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    frame.write_parquet(tmp_path / "f.parquet")
    stream = aw.read(str(tmp_path / "f.parquet"), "y", group="g")
    model = aw.Model(stream.schema, aw.PerGroup(aw.Perceptron()))
    aw.play(model, stream)
    assert model.learner.groups == tuple(names)
    if not isinstance(values[0], datetime.date):
        assert [model.predict_one({"g": value, "a": 1.0}) for value in values] == [
            model.learner.predict_one(str(name), {"a": 1.0}) for name in (names[names.index(str(v).lower().removesuffix(".0"))] for v in values)
        ]  # fmt: skip


def test_weights_and_hashed_names():
    rows = [{**row, "n": i % 3} for i, row in enumerate(records())]
    stream = aw.read(rows, "sold", group="shop", weight="n", hash_bits=8)
    model = aw.Model(stream.schema, aw.PerGroup(aw.SGD()))
    record = aw.play(model, stream)
    again = aw.Model(stream.schema, aw.PerGroup(aw.SGD(labels=("no", "yes"))))
    for row in rows:
        if row["sold"] is not None:
            again.learn_one(row)
    assert again == model
    assert record.rounds == sum(row["n"] for row in rows if row["sold"] is not None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group": "shops"}, "group: there is no column 'shops'. Did you mean 'shop'"),
        ({"group": "sold"}, "group must be a column that nothing else is said about; received 'sold'"),
        ({"group": "shop", "categorical": ["shop"]}, "categorical must be columns that nothing else is said about"),
    ],
)
def test_columns_that_are_no_groups(change, message):
    with pytest.raises(InputError, match=message):
        aw.read(records(), "sold", **change)


def test_a_row_without_a_name_is_named(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("shop,a,y\n" + "s,1,0\n" * 1200 + ",1,1\n")
    stream = aw.read(str(path), "y", group="shop", labels=(0, 1))
    with pytest.raises(StreamError, match=r"line 1,?202: column shop: the name of a group was expected; found nothing"):
        aw.play(aw.Model(stream.schema, aw.PerGroup(aw.Perceptron())), stream)
    model = aw.Model(stream.schema, aw.PerGroup(aw.Perceptron(labels=(0, 1))))
    with pytest.raises(InputError, match="the group must be a name: text or a number; received None"):
        model.predict_one({"a": 1})
    with pytest.raises(StreamError, match="a column shop with the names of the groups was expected"):
        model.predict_many([{"a": 1.0}])


def test_learners_and_groups_that_do_not_fit(tmp_path):
    stream = aw.read(records(), "sold", group="shop")
    with pytest.raises(InputError, match=r"PerGroup\(Perceptron\(...\)\), because each shop has a learner of its own"):
        aw.play(aw.Perceptron(), stream)
    with pytest.raises(InputError, match="because each shop has a learner of its own"):
        aw.race(records(), ["perceptron"], "sold", group="shop")
    with pytest.raises(InputError, match="PerGroup, because the schema has groups"):
        aw.Model(stream.schema, aw.Perceptron())
    with pytest.raises(InputError, match="one without groups"):
        aw.Model(aw.read(records(), "sold").schema, aw.PerGroup(aw.Perceptron()))
    with pytest.raises(InputError, match=r"a stream that was read with group=COLUMN"):
        aw.play(aw.PerGroup(aw.Perceptron(labels=("no", "yes"))), aw.read(records(), "sold"))
    with pytest.raises(InputError, match="read in blocks"):
        next(iter(stream))
    (tmp_path / "f").write_text("1 1:2\n-1 1:3\n")
    with pytest.raises(InputError, match="group must be left out, because libsvm text has no columns"):
        aw.read(str(tmp_path / "f"), group="shop")
