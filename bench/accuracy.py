"""One pass over real data with default settings: the share of examples predicted wrongly before they were learned."""

from pathlib import Path

import afterwit as aw

#: File, labels, the most that is wanted, and what others have reported for one pass.
FIGURES = [
    ("a9a", (-1, 1), 0.157, "Vowpal Wabbit 15.5%, River 15.9%"),
    ("spamassassin.svm.gz", (0, 1), 0.018, "Vowpal Wabbit 1.73%"),
]


def accuracy_cases(folder):
    for name, labels, wanted, others in FIGURES:
        path = Path(folder) / name
        if not path.exists():
            print(f"AdaGrad on {name}: left out, {path} is not there (make bench DATA=FOLDER)")
            continue
        record = aw.play(aw.AdaGrad(loss="logistic", labels=labels), aw.streams.LibsvmStream(path))
        verdict = "reached" if record.error <= wanted else "NOT REACHED"
        print(f"AdaGrad on {name}: {record.error:.2%} error; wanted <= {wanted:.1%}: {verdict} ({others})", flush=True)
        yield {"case": f"AdaGrad on {name}", "error": record.error, "wanted": wanted}
