"""The data sets of the comparisons: two labels (-1, +1), many classes (0, 1, ...) or numbers, all read in one way."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas
import scipy.sparse

import afterwit as aw

#: Files of two labels: the file, and its negative and its positive label.
FILES = {
    "a9a": ("a9a", (-1, 1)),
    "mushrooms": ("mushrooms.train", (0, 1)),
    "spamassassin": ("spamassassin.svm.gz", (0, 1)),
    "rcv1_small": ("rcv1_small.vw", (-1, 1)),
    "sms_spam": ("sms_spam.tsv", ("ham", "spam")),
    "elec2": ("elec2.csv", (0, 1)),
    "magic04": ("magic04.csv", ("h", "g")),
    "spambase": ("spambase.csv", (0, 1)),
    "bank_marketing": ("bank_marketing.csv.gz", ("no", "yes")),
    "acl_books": ("acl_books.svm.gz", (-1, 1)),
    "svmguide3": ("svmguide3.svm", (-1, 1)),
}
#: Those that River's package contains, so that nothing is downloaded.
RIVER = {
    "Bananas": "two",
    "Phishing": "two",
    "Shuttle": "two",
    "ImageSegments": "many",
    "ChickWeights": "numbers",
    "TrumpApproval": "numbers",
    "SP500Stocks": "numbers",
}
SKLEARN = {"breast_cancer": "two", "digits": "many", "wine": "many", "diabetes": "numbers"}
#: Up to so many columns a row is also given in full, with its zeros.
NARROW = 200
#: The rows of these come sorted by label.
SORTED = ("svmguide3",)


@dataclass
class Data:
    name: str
    kind: str  # "two", "many" or "numbers"
    X: object  # 2-D array, or sparse rows
    y: np.ndarray

    @property
    def narrow(self):
        return self.X.shape[1] <= NARROW

    @property
    def classes(self):
        return np.unique(self.y).tolist()


def words(texts):
    """How often each word, in lower case, is in each text."""
    columns, at, counts, ends = {}, [], [], [0]
    for text in texts:
        found = {}
        for word in re.findall(r"\w+", text.lower()):
            found[word] = found.get(word, 0) + 1
        at += [columns.setdefault(word, len(columns)) for word in found]
        counts += found.values()
        ends.append(len(at))
    return scipy.sparse.csr_array((np.array(counts, float), at, ends), shape=(len(ends) - 1, len(columns)))


def read_vowpal(lines):
    """Lines of one namespace whose features are numbers."""
    labels, at, values, ends = [], [], [], [0]
    for line in lines:
        label, _, features = line.partition("|")
        labels.append(int(label))
        for feature in features.split()[1:]:
            column, _, value = feature.partition(":")
            at.append(int(column))
            values.append(float(value or 1))
        ends.append(len(at))
    return scipy.sparse.csr_array((values, at, ends), shape=(len(labels), max(at) + 1)), labels


def read_table(path):
    table = pandas.read_csv(path, sep=";" if path.name.startswith("bank") else ",")
    # How long a call lasted is known only after it.
    table = table.drop(columns="duration", errors="ignore")
    y = table.pop(table.columns[-1])
    return pandas.get_dummies(table).to_numpy(dtype=np.float64), y.tolist()


def read(path):
    """The rows of a file, in its order, and their labels."""
    path = Path(path)
    if ".csv" in path.name:
        return read_table(path)
    if path.suffix == ".vw":
        return read_vowpal(path.read_text().splitlines())
    if path.suffix == ".tsv":
        labels, texts = zip(*(line.split("\t", 1) for line in path.read_text().splitlines()), strict=True)
        return words(texts), list(labels)
    X, y = aw.streams.read_libsvm(path, first_id=1)
    return X, y.tolist()


def shuffled(X, y):
    at = np.random.default_rng(0).permutation(len(y))
    return X[at], y[at]


def from_file(name, folder):
    """None if the file is not there."""
    file, (_, positive) = FILES[name]
    path = Path(folder) / file
    if not path.exists():
        return None
    X, labels = read(path)
    if scipy.sparse.issparse(X):
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no others
    y = np.array([1 if label == positive else -1 for label in labels])
    if name in SORTED:
        X, y = shuffled(X, y)
    return Data(name, "two", X, y)


def from_river(name):
    from river import datasets

    rows, answers = zip(*getattr(datasets, name)(), strict=True)
    X = np.array([list(row.values()) for row in rows], dtype=np.float64)
    kind = RIVER[name]
    if kind == "numbers":
        return Data(name, kind, X, np.array(answers, dtype=np.float64))
    if kind == "two":
        return Data(name, kind, X, np.where(np.array(answers, dtype=bool), 1, -1))
    return Data(name, kind, X, np.unique(answers, return_inverse=True)[1])


def from_sklearn(name):
    import sklearn.datasets

    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    kind = SKLEARN[name]
    X, y = shuffled(X, np.where(y > 0, 1, -1) if kind == "two" else y)
    return Data(name, kind, X, y)


def names():
    return [*FILES, *RIVER, *SKLEARN]


def load(name, folder):
    """The data set of this name; None if its file is not in the folder."""
    if name in FILES:
        return from_file(name, folder)
    return from_river(name) if name in RIVER else from_sklearn(name)
