import os
import signal
import tempfile
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from afterwit.errors import StreamError
from afterwit.streams.sql import SqlReader
from cells import plain, read_all
from naive_typed_tables import expected, tables


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Queries find files in the current folder."""
    monkeypatch.chdir(tmp_path)
    columns = {"a": pa.array([3, 1, None, 2]), "t": ["x", "y", "", None], "s": [1.5, float("inf"), 2.0, 3.0]}
    pq.write_table(pa.table(columns), "x.parquet")
    return tmp_path


@given(table=tables())
def test_every_cell_for_every_size_of_blocks(table):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.parquet")
        pq.write_table(table, path, row_group_size=7)
        for count in (1, 3, 1000):
            reader = SqlReader(f"SELECT * FROM '{path}'")
            assert plain(reader.look(5)) == expected(table.slice(0, 5))
            found, places = read_all(reader, count)
            if table.num_rows:
                assert found == expected(table)
            assert places == [{"path": f"the query, row {i:,}"} for i in range(1, table.num_rows + 1)]


@pytest.mark.parametrize(
    ("query", "cells"),
    [
        ("SELECT a FROM 'x.parquet' WHERE a > 1 ORDER BY a DESC", [3.0, 2.0]),
        ("from 'x.parquet' select a", [3.0, 1.0, None, 2.0]),
        ("WITH b AS (SELECT a + 1 AS a FROM 'x.parquet') SELECT * FROM b -- and that is all\n;", [4.0, 2.0, None, 3.0]),
        ("VALUES (1), (2)", [1.0, 2.0]),
        ("SELECT sum(a) AS a FROM 'x.parquet'", [6.0]),
        ("SELECT a::UTINYINT::HUGEINT FROM 'x.parquet'", [3.0, 1.0, None, 2.0]),
    ],
)
def test_queries(here, query, cells):
    found, _ = read_all(SqlReader(query), 2)
    assert list(found.values()) == [("whole numbers", cells)]


@pytest.mark.parametrize(
    ("written", "kind", "cell"),
    [
        ("1.25::DECIMAL(4, 2)", "numbers", 1.25),
        ("'b'::ENUM ('a', 'b')", "texts", "b"),
        ("TIMESTAMPTZ '2020-01-01 01:00:00+01'", "times", 1_577_836_800_000_000),
        ("TIMESTAMP_S '2020-01-01'", "times", 1_577_836_800_000_000),
        ("TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", "times", -1),
        ("DATE '1970-01-02'", "times", 86_400_000_000),
        ("TIME '10:00'", "time of day", None),
        ("INTERVAL 1 DAY", "interval", None),
        ("'ab'::BLOB", "binary", None),
        ("[1, 2]", "list", None),
        ("[1, 2]::INTEGER[2]", "list", None),
        ("{'a': 1}", "struct", None),
        ("MAP {'a': 1}", "map", None),
        ("union_value(num := 1)", "union", None),
        ("'00000000-0000-0000-0000-000000000001'::UUID", "texts", "00000000-0000-0000-0000-000000000001"),
        ("TRUE", "booleans", 1.0),
        ("NULL::VARCHAR", "texts", None),
    ],
)
def test_types_of_the_database(written, kind, cell):
    found, _ = read_all(SqlReader(f"SELECT {written} AS a"), 5)
    assert found["a"][0] == kind
    assert found["a"][1] in (None, [cell])


@pytest.mark.parametrize("moment", ["DATE 'infinity'", "TIMESTAMP 'infinity'", "TIMESTAMP '-infinity'"])
def test_moments_that_are_none(moment):
    with (
        SqlReader(f"SELECT {moment} AS a") as reader,
        pytest.raises(StreamError, match="row 1: column 'a': the moment"),
    ):
        reader.take(5)


def test_a_cell_that_is_no_number_for_us(here):
    with SqlReader("SELECT * FROM 'x.parquet'") as reader:
        assert reader.take(10).count == 1
        with pytest.raises(StreamError) as caught:
            reader.take(10)
    assert str(caught.value).startswith("the query, row 2: column 's': a finite number")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELECT * FROM missing", "Catalog Error: Table with name missing does not exist!"),
        ("selct 1", 'Parser Error: syntax error at or near "selct"'),
        ("SELECT * FROM 'nothing.parquet'", "IO Error: No files found that match the pattern"),
        ("SELECT t::INTEGER FROM 'x.parquet'", "Conversion Error: Could not convert string 'x' to INT32"),
        ("SELECT error('line\none')", "Invalid Input Error: line"),
        ("SELECT error('so') FROM range(200000) AS t (i) WHERE i = 150000", "Invalid Input Error: so"),
        ("SELECT ?", "parameter"),
        ("SELECT a, a FROM 'x.parquet'", "the column 'a' occurs twice; give it another name"),
        ("SELECT * FROM pytest", "Table with name pytest does not exist"),
        ("", "one SELECT that returns rows was expected, not ''"),
        ("SELECT 1; SELECT 2", "one SELECT that returns rows was expected, not 'SELECT 1; SELECT 2'"),
        ("COPY (SELECT 1) TO 'new.csv'", "one SELECT that returns rows was expected"),
        ("CREATE TABLE new AS SELECT 1", "one SELECT that returns rows was expected"),
        ("SET autoinstall_known_extensions = true", "one SELECT that returns rows was expected"),
        ("SELECT * FROM 'https://localhost/x.parquet'", "needs DuckDB's extension 'httpfs', which is not installed"),
        ("SELECT * FROM st_read('x.shp')", "needs DuckDB's extension 'spatial', which is not installed"),
    ],
)
def test_queries_that_are_refused(here, query, sentence, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    with pytest.raises(StreamError) as caught, SqlReader(query) as reader:
        while reader.take(1000) is not None:
            pass
    message = str(caught.value)
    assert message.startswith("the query: ")
    assert sentence in message
    assert "\n" not in message
    assert "LINE" not in message
    assert "Did you mean" not in message
    assert not Path("new.csv").exists()


def test_what_does_not_fit_into_memory_is_written_to_a_folder_that_is_removed(here):
    with SqlReader("SELECT current_setting('temp_directory') AS folder") as reader:
        folder = Path(reader.take(1).columns["folder"].words[0])
        assert folder.parent.parent == Path(tempfile.gettempdir())
        assert folder.parent.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in here.iterdir()) == ["temporary", "x.parquet"]


def test_it_says_what_it_is(here):
    with SqlReader("SELECT t, a FROM 'x.parquet'") as reader:
        assert (reader.name, reader.names, reader.typed) == ("the query", ["t", "a"], True)
        assert (reader.size, reader.position, reader.skipped.count) == (None, 0, 0)
        reader.read_as({"a": "number"})
        assert list(reader.take(5).columns) == ["a"]


def test_ctrl_c_ends_a_query():
    main = threading.get_ident()
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    # A process in the background may have been told to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        SqlReader("SELECT sum(hash(i * j)) FROM range(1000000) AS a (i), range(1000000) AS b (j)")
    timer.join()
    signal.signal(signal.SIGINT, before)
