"""What certificates say about a few sequences of every subject of tests/proving, kept in tests/corpus/certificates.json.

    python tests/kept_certificates.py     write the file anew

The oracles of tests/proving say whether a certificate is true. This says whether it is the same as it was: every number
in it, and every condition. Change the file together with the code where a certificate is meant to change, and look at
the difference. Numbers that depend on how a machine adds up, such as weights of a comparator that is one of many, are
not kept: the sequences are played with several kinds of arithmetic, and what differs is left out.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE / "corpus" / "certificates.json"
SEED, SEQUENCES = 2026, 12
#: A number that differs by more than this part of it depends on the machine; beyond the second, it is another number.
STABLE, SAME = 1e-9, 1e-6
#: How sums are added up: kernels of OpenBLAS, and what numpy may use of the processor.
PORTABLE = "SSE41 SSE42 POPCNT AVX F16C FMA3 AVX2 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"
KERNELS = ("Prescott", "Core2", "Nehalem", "Sandybridge", "Haswell", "Zen")
ARITHMETIC = (*({"OPENBLAS_CORETYPE": name} for name in KERNELS), {"NPY_DISABLE_CPU_FEATURES": PORTABLE})


def played(name, count=SEQUENCES):
    """What the certificates of the first sequences of a subject say."""
    from proving.judging import Table
    from proving.searching import SHARES, load, play

    class Noting(Table):
        def certificate(self, made, subject, truth, theorem=None):
            noted.append(summary(made))
            super().certificate(made, subject, truth, theorem)

        def stated(self, theorem, subject, bound, wanted, slack=None):
            noted.append({"theorem": theorem, "bound": number(bound)})
            super().stated(theorem, subject, bound, wanted, slack)

    load()
    noted, table = [], Noting()
    for place in range(max(1, math.ceil(count * SHARES.get(name, 1.0)))):
        play(table, name, SEED, place)
    problems = [row.problems for row in table.rows.values() if row.problems]
    assert not problems, problems
    return noted


def subjects():
    """Every subject whose sequences have certificates."""
    from proving.searching import SUBJECTS, load

    load()
    return list(SUBJECTS)


def summary(made):
    """A certificate as numbers and a few words."""
    marks = {True: "y", False: "n", None: "?"}
    shown = {
        "theorem": f"{type(made.theorem).__name__}: {made.theorem.name}",
        "verdict": str(made.verdict),
        "bound": number(made.bound),
        "observed": number(made.observed),
        "rounding": number(made.rounding),
        "rounds": f"{made.rounds} {made.counted}",
        "assumes": "".join(marks[each.holds] for each in made.assumptions),
        "vacuous": made.vacuous,
        "inputs": {name: number(value) for name, value in made.inputs.items()},
        "known": f"{made.theorem.foreseeable} {made.theorem.beforehand}",
    }
    if made.hindsight is not None:
        # What is left of a perfect comparator is rounding, which differs from processor to processor.
        nothing = min(made.rounding or 0.0, 1e-12 * abs(made.observed or 0.0))
        least = made.hindsight.value if abs(made.hindsight.value) > nothing else 0.0
        shown["hindsight"] = [number(least), made.hindsight.gap is None, made.hindsight.quantity]
    if made.ceiling is not None:
        shown["ceiling"] = number(made.ceiling.value)
    return shown


def number(value):
    """A number to twelve digits; another word as it is."""
    if value is None or isinstance(value, str):
        return value
    value = float(value)
    return float(f"{value:.12g}") if math.isfinite(value) else str(value)


def agree(one, two, near):
    """Whether two values are the same, numbers to so many digits."""
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= near * max(abs(one), abs(two)) + 1e-300
    return one == two


def merged(one, two):
    """What two records have in common; a value that differs becomes "varies"."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return {name: merged(one[name], two[name]) for name in one}
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return [merged(a, b) for a, b in zip(one, two, strict=True)]
    return one if agree(one, two, STABLE) else "varies"


def differences(kept, found, place=""):
    """Where a record is not what was kept."""
    if kept == "varies":
        return []
    if isinstance(kept, dict) and isinstance(found, dict) and kept.keys() == found.keys():
        return [each for name in kept for each in differences(kept[name], found[name], f"{place}.{name}")]
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        pairs = enumerate(zip(kept, found, strict=True))
        return [each for i, (a, b) in pairs for each in differences(a, b, f"{place}[{i}]")]
    return [] if agree(kept, found, SAME) else [f"{place}: {found!r}, was {kept!r}"]


def write():
    results = []
    for more in ARITHMETIC:
        environment = {**os.environ, **more, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--print"]
        found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
        results.append(json.loads(found))
    first, *others = results
    for other in others:
        first = merged(first, other)
    lines = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in records) + "\n]"
        for name, records in first.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(json.dumps({name: played(name) for name in subjects()}))
    else:
        write()
