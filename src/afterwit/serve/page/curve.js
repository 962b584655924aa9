// The live curve of a model, drawn by uPlot, with a legend that follows the pointer and a table of its numbers.

import { element, fill, table } from "./elements.js";
import { number } from "./words.js";

/* global uPlot */

/** What is drawn: the key in the data, the name, the colour of our reports, the width and the stroke. */
const LINES = [
  { key: "lately", name: "lately", colour: "--aw-muted", width: 1, dash: [] },
  { key: "sinceStart", name: "since the start", colour: "--aw-happened", width: 2, dash: [] },
  { key: "bound", name: "bound", colour: "--aw-bound", width: 1.8, dash: [6, 3], sparse: true },
  { key: "hindsight", name: "hindsight", colour: "--aw-hindsight", width: 1.8, dash: [2, 3], sparse: true },
];
const HEIGHT = 260;
/** The table has about so many rows. */
const ROWS = 20;
/** The first rounds, whose errors are all or nothing, do not decide how high the picture is. */
const SETTLED = 0.02;

export class Curve {
  constructor(title) {
    this.title = title;
    this.chart = null;
    this.data = null;
    this.place = element("div", { class: "drawn", role: "img" });
    this.legend = element("ul", { class: "legend", "aria-hidden": "true" });
    this.note = element("p", { class: "small" });
    this.numbers = element("div");
    this.folded = element("details", { toggle: () => this.tell() }, element("summary", {}, "The numbers as a table"), this.numbers);
    this.figure = element("figure", { class: "curve" }, this.place, this.legend, this.note, this.folded);
    this.watching = new ResizeObserver(() => this.chart?.setSize(this.size()));
    this.watching.observe(this.place);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => this.redraw();
    this.dark.addEventListener("change", this.recolour);
  }

  /**
   * Show these numbers: lists of the same length, with null where there is none.
   *
   * data  {rounds, sinceStart, lately, bound, hindsight}
   * how   {text, tick: how a value is written, and at an axis; measure: what the numbers are}
   */
  show(data, how) {
    const kept = LINES.filter((line) => data[line.key].some((value) => value !== null)).map((line) => line.key).join();
    const redraw = !this.chart || kept !== this.kept || how.measure !== this.how.measure;
    Object.assign(this, { data, how, kept });
    if (!data.rounds.length) {
      this.clear();
      fill(this.place, element("p", { class: "nothing" }, "No round yet: the curve begins with the first label."));
      this.place.setAttribute("aria-label", `${this.title}: no round yet`);
    } else if (redraw) {
      this.redraw();
    } else {
      this.chart.setData(this.columns());
    }
    this.figure.classList.toggle("empty", !data.rounds.length);
    this.describe();
    this.point(null);
    this.tell();
  }

  end() {
    this.watching.disconnect();
    this.dark.removeEventListener("change", this.recolour);
    this.clear();
  }

  clear() {
    this.chart?.destroy();
    this.chart = null;
  }

  get lines() {
    return LINES.filter((line) => this.kept.split(",").includes(line.key));
  }

  size() {
    return { width: Math.max(200, this.place.clientWidth), height: HEIGHT };
  }

  columns() {
    return [this.data.rounds, ...this.lines.map((line) => this.data[line.key])];
  }

  redraw() {
    if (!this.data?.rounds.length) return;
    this.clear();
    this.place.replaceChildren();
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--aw-muted"),
      font: `12px ${getComputedStyle(document.body).fontFamily}`,
      grid: { stroke: colour("--aw-grid"), width: 1 },
      ticks: { stroke: colour("--aw-grid"), width: 1, size: 5 },
    };
    const options = {
      ...this.size(),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      padding: [10, 26, 0, 0],
      scales: { x: { time: false, range: (_, least, most) => [Math.min(least, 1), Math.max(most, 2)] }, y: { range: () => this.range() } },
      axes: [
        { ...axis, space: 70, size: 34, values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? number(tick) : "")) },
        { ...axis, space: 36, size: 58, values: (_, ticks) => ticks.map((tick) => this.how.tick(tick)) },
      ],
      series: [{}, ...this.lines.map((line) => ({
        stroke: colour(line.colour),
        width: line.width,
        dash: line.dash,
        spanGaps: true,
        points: { show: Boolean(line.sparse), size: 7, fill: colour(line.colour) },
      }))],
      hooks: { setCursor: [(chart) => this.point(chart.cursor.idx)] },
    };
    this.chart = new uPlot(options, this.columns(), this.place);
  }

  /** From nought, as high as what happened asks for; a bound or hindsight that is far above does not flatten it. */
  range() {
    const { rounds, sinceStart, lately, bound, hindsight } = this.data;
    const settled = rounds[rounds.length - 1] * SETTLED;
    let most = 0, least = 0;
    for (let i = 0; i < rounds.length; i += 1) {
      if (rounds[i] < settled) continue;
      most = Math.max(most, sinceStart[i] ?? 0, lately[i] ?? 0);
      least = Math.min(least, sinceStart[i] ?? 0, lately[i] ?? 0, hindsight[i] ?? 0);
    }
    const reach = most > 0 ? 2.5 * most : Infinity;
    const far = bound.map((value, i) => (rounds[i] >= settled ? value ?? 0 : 0));
    const shown = Math.max(...far.filter((value) => value <= reach), 0);
    most = Math.max(most, shown, ...hindsight.filter((value) => value <= reach));
    const above = far.some((value) => value > 1.02 * most);
    this.note.textContent = above ? "The bound is above this picture; the table has its numbers." : "";
    return most > least ? [least * 1.05, least + (most - least) * 1.05] : [0, 1];
  }

  /** The legend, with the values at the pointer, or the last ones. */
  point(index) {
    const { rounds } = this.data;
    const at = index ?? rounds.length - 1;
    if (at < 0) {
      fill(this.legend);
      return;
    }
    const last = (values) => {
      for (let i = at; i >= 0; i -= 1) if (values[i] !== null) return values[i];
      return null;
    };
    fill(this.legend,
      ...this.lines.toReversed().map((line) => element("li", { class: `of-${line.key}` },
        element("span", { class: "line" }), `${line.name} `, element("b", {}, this.how.text(last(this.data[line.key]))))),
      element("li", { class: "at" }, `at round ${number(rounds[at])}`));
  }

  /** What the picture shows, for those who do not see it. */
  describe() {
    const { rounds, sinceStart, lately } = this.data;
    const last = rounds.length - 1;
    if (last < 0) return;
    this.place.setAttribute("aria-label", `${this.title}: ${this.how.measure} by rounds. ` +
      `After ${number(rounds[last])} rounds ${this.how.text(sinceStart[last])} since the start, ${this.how.text(lately[last])} lately.`);
  }

  /** The numbers as a table, while it is open: evenly chosen rows, and the last one. */
  tell() {
    if (!this.folded.open || !this.data) return;
    const { rounds } = this.data;
    const step = Math.max(1, Math.ceil(rounds.length / ROWS));
    const chosen = [...rounds.keys()].filter((i) => (rounds.length - 1 - i) % step === 0 || this.data.bound[i] !== null);
    const rows = chosen.map((i) => [number(rounds[i]), ...this.lines.toReversed().map((line) => this.how.text(this.data[line.key][i]))]);
    fill(this.numbers, table(`${this.title}, by rounds`, ["round", ...this.lines.toReversed().map((line) => line.name)], rows));
  }
}
