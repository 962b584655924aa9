"""Each kernel against its oracle on every form of input; composition; what is refused."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import afterwit as aw
import naive_kernels as naive
from afterwit.errors import InputError
from afterwit.kernels import Kernel, all_products, function, gaussian, linear, polynomial, string
from afterwit.kernels._examples import ExampleMatrices, read_many
from afterwit.kernels._kernel import from_data

VECTOR_KERNELS = [
    (linear(), naive.linear),
    (polynomial(1), naive.polynomial(1)),
    (polynomial(3), naive.polynomial(3)),
    (polynomial(7), naive.polynomial(7)),
    (all_products(), naive.all_products),
    (gaussian(2.0), naive.gaussian(2.0)),
    (
        3.0 * linear() * polynomial(2) + all_products(),
        lambda x, z: 3 * naive.linear(x, z) * naive.polynomial(2)(x, z) + naive.all_products(x, z),
    ),
    (
        (linear() + 0.5 * polynomial(2)) * (all_products() + linear()),
        lambda x, z: (
            (naive.linear(x, z) + naive.polynomial(2)(x, z) / 2) * (naive.all_products(x, z) + naive.linear(x, z))
        ),
    ),
]
vector = st.lists(st.integers(-4, 4), min_size=5, max_size=5)
ids = [repr(kernel) for kernel, _ in VECTOR_KERNELS]


def forms(row):
    """One vector in every form: by position and by name."""
    array = np.array(row, dtype=float)
    columns = np.flatnonzero(array)
    names = {f"f{j}": value for j, value in enumerate(row)}
    by_position = [
        array,
        row,
        array.astype(np.int8),
        sparse.csr_array(array[None]),
        sparse.csr_matrix(array[None]),
        sparse.coo_array(array[None]),
        aw.SparseRow(columns, array[columns]),
        aw.SparseRow(columns[::-1], array[columns][::-1]),
        aw.SparseRow([*columns, *columns], [*(array[columns] - 1), *np.ones(len(columns))]),
    ]
    by_name = [
        names,
        {name: value for name, value in reversed(names.items()) if value},
        pandas.Series(names),
        pandas.DataFrame([names]).iloc[0],
    ]
    return by_position, by_name


@pytest.mark.parametrize(("kernel", "oracle"), VECTOR_KERNELS, ids=ids)
@settings(max_examples=10)
@given(vector, vector)
def test_one_pair_in_every_form(kernel, oracle, x, z):
    expected = oracle(naive.as_dict(x), naive.as_dict(z))
    for first, second in zip(forms(x), forms(z), strict=True):
        for one in first:
            for other in second:
                value = kernel(one, other)
                assert type(value) is float
                if isinstance(expected, Fraction):
                    assert Fraction(value) == expected
                else:
                    assert value == expected  # squared distances of whole numbers are exact in every form


@pytest.mark.parametrize(("kernel", "oracle"), VECTOR_KERNELS, ids=ids)
@given(st.lists(vector, min_size=1, max_size=6))
def test_the_gram_matrix_in_every_form(kernel, oracle, rows):
    expected = [[float(oracle(naive.as_dict(x), naive.as_dict(z))) for z in rows] for x in rows]
    X = np.array(rows, dtype=float)
    names = [f"f{j}" for j in range(5)]
    dicts = [dict(zip(names, row, strict=True)) for row in rows]
    for form in (X, rows, sparse.csr_array(X), dicts, pandas.DataFrame(X, columns=names)):
        assert kernel.gram(form) == pytest.approx(np.array(expected), rel=1e-12)


@given(st.sets(st.text("abcd", max_size=2)), st.frozensets(st.text("abcd", max_size=2)))
def test_sets_are_features_of_value_1(x, z):
    ones = dict.fromkeys(x, 1.0)
    assert linear()(x, z) == len(x & z)
    assert all_products()(x, z) == 2 ** len(x & z)
    assert gaussian()(x, z) == math.exp(-len(x ^ z) / 2)
    for kernel in (linear(), polynomial(2), all_products(), gaussian(3.0)):
        assert kernel(x, z) == kernel(ones, z) == kernel(z, ones)
        assert kernel.gram([x, z, ones])[0] == pytest.approx([kernel(x, x), kernel(x, z), kernel(x, x)], rel=1e-15)


@given(st.text("abé\0", max_size=12), st.text("abé\0", max_size=12), st.integers(1, 4))
def test_strings(x, z, length):
    expected = naive.string(length)(x, z)
    assert string(length)(x, z) == expected
    assert string(length).gram([x, z])[0, 1] == expected
    both = string(length) + 2.0 * string(length + 1)
    assert both(x, z) == expected + 2 * naive.string(length + 1)(x, z)
    assert (string(1) * string(length))(x, z) == naive.string(1)(x, z) * expected


def test_strings_in_every_sequence():
    texts = ["banana", "bandana", ""]
    expected = [[5 - 2, 3, 0], [3, 5, 0], [0, 0, 0]]
    for X in (texts, tuple(texts), np.array(texts), np.array(texts, dtype=object), pandas.Series(texts)):
        assert string(2).gram(X).tolist() == expected


def sample(seed):
    random = np.random.default_rng(seed)
    return random.standard_normal((40, 5)) * random.choice([0.1, 1.0, 3.0], size=5) * (random.random((40, 5)) < 0.7)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "kernel",
    [
        *(kernel for kernel, _ in VECTOR_KERNELS),
        gaussian(0.3) * polynomial(2),
        gaussian(1.0) + 0.2 * all_products() * gaussian(5.0),
        function(lambda x, z: float(np.dot(x, z))) * gaussian(2.0),
    ],
    ids=repr,
)
def test_they_are_positive_semidefinite(kernel, seed):
    X = sample(seed)
    matrix = kernel.gram(X)
    assert np.array_equal(matrix, matrix.T) or np.allclose(matrix, matrix.T, rtol=1e-14)
    assert np.linalg.eigvalsh(matrix).min() >= -1e-12 * np.trace(matrix)
    for i, j in ((0, 1), (2, 2), (3, 30)):
        assert kernel(X[i], X[j]) == pytest.approx(matrix[i, j], rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("kernel", [string(1), string(2), string(1) * string(3) + 0.5 * string(2)], ids=repr)
def test_string_kernels_are_positive_semidefinite(kernel):
    random = np.random.default_rng(1)
    texts = ["".join(random.choice(list("abc"), size=random.integers(0, 15))) for _ in range(40)]
    assert np.linalg.eigvalsh(kernel.gram(texts)).min() >= -1e-9


@pytest.mark.parametrize(("kernel", "oracle"), VECTOR_KERNELS, ids=ids)
def test_some_rows_with_others(kernel, oracle):
    X = np.random.default_rng(3).integers(-2, 3, (7, 5))
    left, right = np.array([0, 2, 6]), np.array([1, 2])
    expected = [
        [float(oracle(naive.as_dict(X[i].tolist()), naive.as_dict(X[j].tolist()))) for j in right] for i in left
    ]
    for form in (X, sparse.csr_array(X), [dict(enumerate(x)) for x in X.tolist()]):
        assert kernel._matrix(ExampleMatrices(read_many(kernel, form)), left, right) == pytest.approx(
            np.array(expected)
        )


# ---------------------------------------------------------------------- composition


def test_they_compose_and_read_as_they_were_made():
    kernel = gaussian(width=0.5) + 2.0 * linear()
    assert repr(kernel) == "gaussian(width=0.5) + 2.0 * linear()"
    for text in (
        "linear()",
        "polynomial(3)",
        "all_products()",
        "string(4)",
        "gaussian(width=1.0)",
        "linear() + polynomial(2) + all_products()",
        "2.0 * (linear() + polynomial(2))",
        "(linear() + polynomial(2)) * (2.0 * all_products()) * linear()",
        "string(3) + 0.5 * string(4)",
    ):
        made = eval(text)
        assert repr(made) == text
        assert made == eval(text)
        assert hash(made) == hash(eval(text))
        assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
        assert from_data(made.as_data()) == made


def test_they_compare_by_value():
    assert gaussian(1) == gaussian(1.0) != gaussian(2.0)
    assert polynomial(2) != polynomial(3)
    assert linear() != polynomial(1)
    assert linear() + gaussian() != gaussian() + linear()
    assert (linear() + gaussian()) + string_free() == linear() + (gaussian() + string_free())
    assert 2 * (3 * linear()) == 6.0 * linear() == linear() * 6
    assert np.float64(2) * linear() == linear() * np.int64(2) == Fraction(2) * linear()
    assert linear() != "linear()"

    def own(x, z):
        return 1.0

    assert function(own) == function(own) != function(lambda x, z: 1.0)


def string_free():
    return all_products()


def test_they_cannot_be_changed():
    kernel = gaussian(2.0)
    with pytest.raises(AttributeError):
        kernel.width = 3.0
    with pytest.raises(AttributeError):
        (kernel + linear()).terms = ()


def test_plain_functions_take_part():
    def same(x, z):
        return x == z

    assert (linear() + (lambda x, z: 5))([1.0], [2.0]) == 7
    assert ((lambda x, z: 5) + linear())([1.0], [2.0]) == 7
    assert ((lambda x, z: 5) * linear())([1.0], [2.0]) == 10
    assert (function(same) + 1.5 * function(same))("a", "a") == 2.5
    assert function(same).gram(["a", "b", "a"]).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert (string(1) * same)("ab", "ab") == 2
    assert repr(function(same)).startswith("function(test_plain_functions_take_part.<locals>.same")
    seen = []
    kernel = linear() + (lambda x, z: seen.append((x, z)) or 0.0)
    kernel({"a": 1}, {"b": 2})
    kernel([1, 2], [3, 4])
    assert seen[0] == ({"b": 2.0}, {"a": 1.0})
    assert [each.tolist() for each in seen[1]] == [[3, 4], [1, 2]]


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf"), True, "2", None, 1j, np.float64(-2)])
def test_bad_factors(factor):
    for compose in (lambda k: k * factor, lambda k: factor * k):
        with pytest.raises(InputError, match="the factor of a kernel must be a positive finite number; received"):
            compose(linear())


def test_kinds_of_input_do_not_mix():
    with pytest.raises(InputError, match="kernels that take the same kind of example; received string"):
        string(3) + linear()
    with pytest.raises(InputError, match="must be kernels that take the same kind"):
        gaussian() * (2.0 * string(3))
    with pytest.raises(InputError, match="must be kernels that take the same kind"):
        function(max) + linear() + string(1)
    with pytest.raises(InputError, match=r"kernel must be a kernel of afterwit\.kernels or a function"):
        linear() + 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: polynomial(0), "degree must be a whole number from 1 to 1000; received 0"),
        (lambda: polynomial(1.5), "degree must be"),
        (lambda: polynomial(True), "degree must be"),
        (lambda: polynomial(1001), "degree must be"),
        (lambda: string(0), "length must be a whole number, at least 1; received 0"),
        (lambda: string("a"), "length must be"),
        (lambda: gaussian(0), "width must be a positive finite number; received 0"),
        (lambda: gaussian(float("nan")), "width must be"),
        (lambda: gaussian(1e-200), "width must be a positive number whose square"),
        (lambda: gaussian(1e200), "width must be a positive number whose square"),
        (lambda: function(3), "kernel must be a function of two examples"),
        (lambda: function(linear()), "kernel must be a function of two examples"),
        (lambda: function(int), "kernel must be a function of two examples"),
        (lambda: linear()("ab", [1.0]), "x must be a dict, a 1-D array or a sparse row; received 'ab'"),
        (lambda: linear()([1.0], {"a": 1.0}), "x must be"),
        (lambda: linear()({"a": 1.0}, [1.0]), "x must be"),
        (lambda: linear()({"a": float("nan")}, {}), "x\\['a'\\] must be a finite number"),
        (lambda: linear()({"a": "1"}, {}), "x\\['a'\\] must be a finite number"),
        (lambda: linear()([float("inf")], [1.0]), "x\\[0\\] must be a finite number"),
        (lambda: linear()([1e200], [1e200]), "x must be an example whose kernel values are finite"),
        (lambda: polynomial(5).gram([[1e200]]), "X must be examples whose kernel values are finite"),
        (lambda: linear().gram([[1.0], [float("nan")]]), "X\\[1, 0\\] must be a finite number"),
        (lambda: linear().gram([{"a"}, [1.0]]), "X must be"),
        (lambda: string(2)("ab", 3), "x must be a string; received 3"),
        (lambda: string(2)(["ab"], "ab"), "x must be a string"),
        (lambda: string(2).gram("abc"), "X must be a sequence or a 1-D array of strings"),
        (lambda: string(2).gram(["ab", 3]), "X\\[1\\] must be a string; received 3"),
        (lambda: string(2).gram(np.array([["ab"]])), "received an array of shape \\(1, 1\\)"),
        (lambda: string(2).gram(7), "X must be a sequence"),
        (lambda: function(lambda x, z: float("nan"))(1, 2), "the value of a kernel must be a finite number"),
        (lambda: function(lambda x, z: "1")(1, 2), "the value of a kernel must be a finite number; received '1'"),
        (lambda: function(lambda x, z: None).gram([1]), "the value of a kernel must be a finite number"),
        (lambda: function(lambda x, z: 1j)(1, 2), "the value of a kernel must be"),
        (lambda: function(lambda x, z: np.zeros(2)).gram([1]), "the value of a kernel must be"),
        (lambda: function(lambda x, z: 10**400)(1, 2), "the value of a kernel must be"),
        (lambda: function(max).gram(5), "X must be a sequence or an array of examples"),
        (lambda: function(max).gram("ab"), "X must be a sequence or an array of examples"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_function_takes_rows_of_any_table():
    kernel = function(lambda x, z: x["a"] * z["a"])
    assert kernel.gram(pandas.DataFrame({"a": [1.0, 2.0]})).tolist() == [[1, 2], [2, 4]]
    kernel = function(lambda x, z: float(x.values.sum() * z.values.sum()))
    assert kernel.gram(sparse.csr_array(np.array([[0.0, 3.0], [0.0, 0.0]]))).tolist() == [[9, 0], [0, 0]]
    kernel = function(lambda x, z: float(x @ z))
    assert kernel.gram(np.array([[0.0, 3.0], [1.0, 0.0]])).tolist() == [[9, 0], [0, 1]]


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        ["nonsense"],
        ["gaussian", -1.0],
        ["gaussian", 1.0, 2.0],
        ["sum", ["linear"]],
        ["sum", ["linear"], ["string", 2]],
        ["scaled", 0.0, ["linear"]],
        ["function", "os.system"],
        [["linear"]],
    ],
)
def test_data_that_is_no_kernel(data):
    with pytest.raises(InputError, match="must be"):
        from_data(data)


def test_a_kernel_is_told_from_a_function():
    assert isinstance(linear() + linear(), Kernel)
    with pytest.raises(NotImplementedError):
        Kernel()([1.0], [1.0])


def test_examples_of_a_part_are_called_by_their_place_in_the_whole():
    part = read_many(linear(), np.arange(20.0).reshape(10, 2)).part(3, 9).part(1, 4)
    assert (part.count, part.place(0), part.place(2)) == (3, "X[4]", "X[6]")
    assert part.parts[None].matrix().tolist() == [[8, 9], [10, 11], [12, 13]]
