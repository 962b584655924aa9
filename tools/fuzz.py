"""Feed the readers of this package with changed inputs, and judge what they do: `make fuzz`.

Every target starts from the files in tests/corpus, changes them at random (fuzzing/mutate.py) and compares with a slow
oracle. Every second case is a file as it is, until each has had its turn. It runs in a process of its own, whose memory
is limited, with the address sanitizer where that can be built. A crash is a signal, a report of the sanitizer, an
exception that is not one of this package, too much memory or too much time; a disagreement is a result that the oracle
does not confirm. Inputs that fail are written to build/fuzz/.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve()
HERE = SCRIPT.parent
ROOT = HERE.parent
CORPUS = ROOT / "tests" / "corpus"
FAILED = ROOT / "build" / "fuzz"
#: What one case may take.
MOST_SECONDS = 20
MOST_MEMORY = 3 << 30
#: How often the process of a target may die.
MOST_DEATHS = 20


@dataclass(frozen=True)
class Target:
    """A reader: its corpus, how an input is changed, and what judges the result."""

    name: str
    folder: str
    mutate: Callable[[random.Random, bytes, Sequence[bytes]], bytes]
    judge: Callable[[bytes], str | None]

    def corpus(self) -> list[bytes]:
        return [path.read_bytes() for path in sorted((CORPUS / self.folder).iterdir())]


def targets() -> dict[str, Target]:
    """Every target by its short name."""
    sys.path.insert(0, str(HERE))
    from fuzzing import models, mutate, readers

    found = (
        Target("libsvm text", "libsvm", readers.mutate_libsvm, readers.judge_libsvm),
        Target("Vowpal Wabbit text", "vw", readers.mutate_vw, readers.judge_vw),
        Target("CSV tables", "tables", readers.mutate_csv, readers.judge_table),
        Target("CSV text", "csv", readers.mutate_csv_text, readers.judge_csv_text),
        Target("JSON lines", "json", readers.mutate_json, readers.judge_json),
        Target("payoff matrices", "matrices", readers.mutate_csv, readers.judge_matrix),
        Target("model files", "models", mutate.mutate_model, models.judge),
    )
    return {target.folder: target for target in found}


def judged(target: Target, content: bytes) -> tuple[str, str]:
    """Nothing, or "crash" or "disagreement", and what it is."""
    try:
        found = target.judge(content)
    except Exception:
        return "crash", traceback.format_exc(limit=-6)
    return ("disagreement", found) if found else ("", "")


def inputs(target: Target, seed: int) -> Iterator[bytes]:
    """Changed inputs without end, and the corpus as it is between the first of them: it may take longer than a run."""
    chance = random.Random(f"{target.folder} {seed}")
    corpus = target.corpus()
    for content in chance.sample(corpus, len(corpus)):
        yield content
        yield target.mutate(chance, chance.choice(corpus), corpus)
    while True:
        yield target.mutate(chance, chance.choice(corpus), corpus)


def run(
    target: Target,
    seed: int,
    cases: int | None,
    seconds: float,
    begin: Callable[[bytes], None],
    failed: Callable[[str, str, bytes], None],
) -> None:
    """Try cases until there are enough or the time is over: tell when one begins, and of those that fail, what."""
    end = time.monotonic() + seconds
    for done, content in enumerate(inputs(target, seed)):
        if done == cases or (cases is None and time.monotonic() >= end):
            return
        begin(content)
        kind, words = judged(target, content)
        if kind:
            failed(kind, words, content)


# ---------------------------------------------------------------------- a process for each target


def work(target: Target, seed: int, cases: int | None, seconds: float) -> None:
    """What the process of a target does. What it has counted and found is in files: it may die in any case."""
    warnings.simplefilter("ignore")
    if "LD_PRELOAD" not in os.environ:  # the sanitizer reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    import numpy as np

    np.seterr(all="ignore")
    current, counted = _files(target)
    counts = {"cases": 0, "crash": 0, "disagreement": 0}

    def count(what: str) -> None:
        counts[what] += 1
        counted.write_text(" ".join(map(str, counts.values())))

    def begin(content: bytes) -> None:
        current.write_bytes(content)
        count("cases")
        signal.alarm(MOST_SECONDS)

    def failed(kind: str, words: str, content: bytes) -> None:
        keep(target, kind, words, content)
        count(kind)

    run(target, seed, cases, seconds, begin, failed)
    signal.alarm(0)


def _files(target: Target) -> tuple[Path, Path]:
    """Where a process has the input it is at, and its counts: of cases, crashes and disagreements."""
    return FAILED / f"{target.folder}-current", FAILED / f"{target.folder}-counts"


def keep(target: Target, kind: str, words: str, content: bytes) -> None:
    """Write an input that failed to build/fuzz, with what happened beside it."""
    name = FAILED / f"{target.folder}-{kind}-{hashlib.sha256(content).hexdigest()[:12]}"
    name.write_bytes(content)
    name.with_name(name.name + ".txt").write_text(words, encoding="utf-8", errors="replace")


def supervise(target: Target, seed: int, cases: int | None, seconds: float, environment: Any) -> tuple[int, int, int]:
    """Run the process of a target, and a new one for the rest whenever it dies: cases, crashes, disagreements."""
    total, crashes, disagreements = 0, 0, 0
    end = time.monotonic() + seconds
    current, counted = _files(target)
    for _ in range(MOST_DEATHS):
        for path in (current, counted):
            path.unlink(missing_ok=True)
        command = [sys.executable, str(SCRIPT), "--worker", target.folder, "--seed", str(seed)]
        command += ["--seconds", str(end - time.monotonic())]
        command += [] if cases is None else ["--cases", str(cases - total)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        died = done.returncode != 0
        if died and not counted.exists():
            raise SystemExit(f"{target.name} could not be run:\n{done.stderr}")
        counts = [int(word) for word in counted.read_text().split()] if counted.exists() else [0, 0, 0]
        total, crashes, disagreements = total + counts[0], crashes + counts[1] + died, disagreements + counts[2]
        if died:
            words = "it took too long" if done.returncode == -signal.SIGALRM else done.stderr[-20000:]
            keep(target, "crash", words, current.read_bytes())
        if not died or (time.monotonic() >= end if cases is None else total >= cases):
            break
        seed += 1_000_003
    for path in (current, counted):
        path.unlink(missing_ok=True)
    return total, crashes, disagreements


def main() -> None:
    """The table: target, cases, crashes, disagreements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help="other cases")
    parser.add_argument("--seconds", type=float, default=60, help="how long, for all targets together")
    parser.add_argument("--cases", type=int, help="so many cases for each target instead")
    parser.add_argument("--target", help="one target only")
    asked = parser.parse_args()
    FAILED.mkdir(parents=True, exist_ok=True)
    known = targets()
    if asked.worker:
        work(known[asked.worker], asked.seed, asked.cases, asked.seconds)
        return
    if asked.target not in (None, *known):
        raise SystemExit(f"TARGET must be one of {', '.join(known)}; received {asked.target!r}")
    from fuzzing.sanitizer import sanitized

    environment, words = sanitized(ROOT / "build" / "sanitized")
    # Without the sanitizer there are more cases in the same time, so that both get their share.
    ways = [dict(os.environ), environment] if environment else [dict(os.environ)]
    print(words)
    chosen = [target for target in known.values() if asked.target in (None, target.folder)]
    print(f"\n{'target':<20}{'cases':>12}{'crashes':>12}{'disagreements':>16}{'cases/s':>10}")
    bad = 0
    for target in chosen:
        started = time.monotonic()
        share = asked.seconds / len(chosen) / len(ways)
        found = [supervise(target, 2 * asked.seed + i, asked.cases, share, way) for i, way in enumerate(ways)]
        counts = [sum(each) for each in zip(*found, strict=True)]
        rate = counts[0] / (time.monotonic() - started)
        print(f"{target.name:<20}{counts[0]:>12,}{counts[1]:>12,}{counts[2]:>16,}{rate:>10,.0f}", flush=True)
        bad += counts[1] + counts[2]
    if bad:
        raise SystemExit(f"\nthe inputs that failed are in {FAILED}")


if __name__ == "__main__":
    main()
