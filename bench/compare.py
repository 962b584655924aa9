"""One pass with default settings over every data set at hand, beside the peers. ``make compare`` writes the page.

The page is docs/comparison.md. Everything measured is also in bench/results/comparison.json.
"""

import argparse
import functools
import importlib.metadata
import json
import os
import platform
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import afterwit as aw
from _datasets import FILES, load, names
from _peers import one_pass, tools

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "comparison.md"
CLIP = 1e-15
TITLES = {"two": "Two labels", "many": "Many classes", "numbers": "Numbers"}

INTRODUCTION = """# Comparison with other tools

`make compare` writes this page. Every tool goes over every data set once, in order, with its default settings. Each example is
predicted before it is learned. No option was set for a data set, and columns keep their raw units unless a call below says
`StandardScaler`. Bold is the best of a row.

- **Error** is the share of wrong predictions. For numbers it is the root of the mean squared error (RMSE).
- **Log loss** is the mean of −ln p, where p is the probability given to the label that came, at least 1e-15. Tools without
  probabilities have a dash.
- **Time** is microseconds for each example, to predict and to learn. Each tool gets the examples in its own form (arrays and sparse
  rows, dicts, parsed lines); to make that form is not timed. afterwit is timed with one call of `learn_many`, which returns the
  prediction made before each label. The peers have no such call: they are timed in a Python loop over rows. So much of
  the difference is the loop. Other programs ran on the machine, so compare columns, and small differences mean nothing.
- **Size** is the number of bytes of the model saved after the pass: pickled for afterwit, River and scikit-learn, the model file
  for Vowpal Wabbit (VW), which leaves out weights that are 0. In memory Vowpal Wabbit always has a table of 2^18 weights.

Rows are in file order. svmguide3 and the data sets of scikit-learn are shuffled once (seed 0). sms_spam is a bag
of words, with the same words for all tools. bank_marketing is without `duration`, with a column for each text value. The members of
`aw.Committee` were chosen with most of these data sets in view (see [committee](committee.md)), so expect a little less elsewhere.
"""


@functools.lru_cache(maxsize=2)
def loaded(name, folder):
    return load(name, folder)


def measured(task):
    """One tool on one data set: the figures, or why there are none."""
    kind, name, tool, folder = task
    data = loaded(name, folder)
    found = one_pass(kind, tool, data)
    if found is None or isinstance(found, str):
        return {"problem": found}
    figures = {"time": found.seconds / len(data.y) * 1e6, "size": found.size}
    if kind == "numbers":
        figures["error"] = float(np.sqrt(np.mean((np.array(found.predictions, float) - data.y) ** 2)))
    else:
        figures["error"] = float(np.mean(np.array(found.predictions) != data.y))
    if found.chances is not None:
        figures["log loss"] = float(-np.mean(np.log(np.clip(found.chances, CLIP, 1))))
    return figures


def measure(sets, folder, rows_for_scikit_learn, workers):
    """Figures by data set and tool."""
    tasks = []
    for data in sets:
        for tool in tools(data.kind):
            if tool.name.startswith("sklearn") and len(data.y) > rows_for_scikit_learn:
                continue
            tasks.append((data.kind, data.name, tool.name, folder))
    results = {data.name: {} for data in sets}
    with ProcessPoolExecutor(workers) as pool:
        for (_, name, tool, _), figures in zip(tasks, pool.map(measured, tasks), strict=True):
            results[name][tool] = figures
            print(f"{name:<16} {tool:<32} {shown(figures)}", flush=True)
    return results


def shown(figures):
    if "problem" in figures:
        return figures["problem"] or "does not apply"
    return "  ".join(f"{key} {value:.4g}" for key, value in figures.items())


def cell(measure_name, kind, value):
    if value is None:
        return "–"
    if measure_name == "error":
        return f"{value:.2%}" if kind != "numbers" else f"{value:.4g}"
    if measure_name == "log loss":
        return f"{value:.3f}"
    return f"{value:,.1f}" if measure_name == "time" else f"{value:,}"


def table(measure_name, kind, sets, columns, results):
    """One measure: data sets as rows, tools as columns."""
    values = {data.name: [results[data.name].get(each, {}).get(measure_name) for each in columns] for data in sets}
    used = [i for i in range(len(columns)) if any(row[i] is not None for row in values.values())]
    if not used:
        return []
    lines = ["| data | rows × columns | " + " | ".join(columns[i] for i in used) + " |"]
    lines.append("|---|---|" + "---:|" * len(used))
    for data in sets:
        row = values[data.name]
        known = [value for value in row if value is not None]
        cells = []
        for i in used:
            text = cell(measure_name, kind, row[i])
            cells.append(f"**{text}**" if row[i] is not None and row[i] == min(known) else text)
        shape = f"{data.X.shape[0]:,} × {data.X.shape[1]:,}"
        lines.append(f"| {data.name} | {shape} | " + " | ".join(cells) + " |")
    return lines


def summary(kind, sets, ours, columns, results):
    """For each of our columns: on how many sets it is ahead of every peer, and where it is furthest behind."""
    peers = [each for each in columns if each not in ours]
    for name in ours:
        ahead, worst = 0, (0.0, "", "")
        for data in sets:
            errors = {each: results[data.name].get(each, {}).get("error") for each in peers}
            best = min((each for each in peers if errors[each] is not None), key=errors.get)
            gap = results[data.name][name]["error"] - errors[best]
            gap = gap / errors[best] if kind == "numbers" else gap
            ahead += gap < 0
            worst = max(worst, (gap, data.name, best))
        line = f"- `{name}` is ahead of every peer on {ahead} of {len(sets)} data sets"
        if worst[0] > 0:
            size = f"{worst[0]:.0%}" if kind == "numbers" else f"{worst[0] * 100:.2f} points"
            line += f". It is furthest behind on {worst[1]}: {size} more error than {worst[2]}"
        yield line + "."


def section(kind, sets, results):
    chosen = tools(kind)
    columns = [each.name for each in chosen]
    ours = [each.name for each in chosen if each.call.startswith("aw.")]
    lines = [f"## {TITLES[kind]}", "", *summary(kind, sets, ours, columns, results), ""]
    lines += ["The best peer is chosen for each data set afterwards, which no user can do.", ""]
    for measure_name in ("error", "log loss", "time", "size"):
        title = "RMSE" if measure_name == "error" and kind == "numbers" else measure_name.capitalize()
        rows = table(measure_name, kind, sets, columns, results)
        if rows:
            lines += [f"### {TITLES[kind]}: {title.lower() if title != 'RMSE' else title}", "", *rows, ""]
    lines += [f"### {TITLES[kind]}: the calls", "", "| column | call |", "|---|---|"]
    lines += [f"| {each.name} | `{each.call.replace('|', chr(92) + '|')}` |" for each in chosen]
    stopped = [
        f"- {tool} on {data.name}: {figures['problem']}"
        for data in sets
        for tool, figures in results[data.name].items()
        if figures.get("problem")
    ]
    if stopped:
        lines += ["", "These stopped with an error:", "", *stopped]
    return [*lines, ""]


def versions():
    for name in ("afterwit", "vowpalwabbit", "river", "scikit-learn", "numpy"):
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{name} is not installed and left out"


def page(sets, results, missing, rows_for_scikit_learn):
    lines = [INTRODUCTION, f"Versions: {', '.join(versions())}; Python {platform.python_version()}.", ""]
    lines += [
        "scikit-learn is given one row at a time by `partial_fit`. Its first prediction is the first class with equal probabilities, or 0. "
        "Such a call takes about a millisecond, "
        f"so data sets with more than {rows_for_scikit_learn:,} rows are left out for scikit-learn.",
        "A `StandardScaler` is left out on word data: it needs full rows. Vowpal Wabbit and scikit-learn are told the classes beforehand.",
        "",
        "Of what River's package contains, AirlinePassengers and WaterFlow (only a date), SolarFlare and Yeast (several answers) "
        "are left out.",
        f"Not in the data folder, so left out: {', '.join(missing) if missing else 'none'}.",
        "",
    ]
    for kind in TITLES:
        of_kind = [data for data in sets if data.kind == kind]
        if of_kind:
            lines += section(kind, of_kind, results)
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("DATA", ""), help="the folder of the data files")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rows-for-scikit-learn", type=int, default=20_000)
    options = parser.parse_args()
    if not aw.compiled:
        parser.error("afterwit is installed without its compiled modules; a C compiler is needed for a comparison")
    sets = [data for data in (load(name, options.data) for name in names()) if data is not None]
    missing = [FILES[name][0] for name in FILES if name not in {data.name for data in sets}]
    results = measure(sets, options.data, options.rows_for_scikit_learn, options.workers)
    target = HERE / "results" / "comparison.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(results, indent=2) + "\n")
    PAGE.write_text(page(sets, results, missing, options.rows_for_scikit_learn))
    print(f"written: {os.path.relpath(PAGE)}, {os.path.relpath(target)}")


if __name__ == "__main__":
    main()
