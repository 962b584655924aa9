// One model: the numbers of now, the three numbers of its certificate, its curve, and what else there is to know.

import { threeNumbers, theoremOf, verdictOf } from "./certificate.js";
import { Curve } from "./curve.js";
import { bars, element, facts, fill, say } from "./elements.js";
import { address, ask, download } from "./service.js";
import { ago, clock, counted, number, percent, sentence, short } from "./words.js";

/** So many weights are shown at once. */
const MOST = 12;

export class ModelView {
  /**
   * place   where it is shown
   * asked   is called when a fresh certificate was asked for
   * failed  is called with an error of a request
   */
  constructor(place, name, { asked, failed }) {
    Object.assign(this, { name, asked, failed });
    this.picture = new Curve(`Error of ${name}`);
    this.parts = Object.fromEntries(["title", "lead", "now", "promise", "verdict", "leader", "late", "theorem", "totals", "made", "nested"].map(
      (part) => [part, element("div", { class: `part-${part}` })]));
    this.refresh = element("button", { type: "button", click: () => this.askForCertificate() }, "Ask for a fresh certificate");
    this.result = element("p", { class: "small", role: "status", hidden: true });
    const { parts } = this;
    fill(place,
      element("p", { class: "back" }, element("a", { href: "#" }, "← All models")),
      parts.title, parts.lead, parts.now,
      this.picture.figure,
      element("section", {}, element("h3", {}, "Certificate"), parts.promise, parts.verdict,
        element("div", { class: "row" }, this.refresh), this.result, parts.theorem),
      parts.leader,
      element("section", {}, element("h3", {}, "Labels outstanding"), parts.late),
      element("section", {}, element("h3", {}, "Totals"), parts.totals),
      element("section", {}, element("h3", {}, "Files"), ...this.files()),
      element("section", {}, element("h3", {}, "What it is made of"), parts.made, parts.nested));
  }

  end() {
    this.picture.end();
  }

  files() {
    const said = element("p", { class: "small", role: "status", hidden: true });
    const save = (text, part, ending) => element("button", {
      type: "button",
      click: async () => {
        say(said, `${text}: on its way.`);
        try {
          await download(address(this.name, part), `${this.name}.${ending}`);
          say(said, `${text}: saved.`);
        } catch (error) {
          say(said, `${text}: ${error.message}`);
          this.failed(error);
        }
      },
    }, text);
    return [element("div", { class: "row" },
      save("Model file", "/file", "aw"),
      save("Log as JSON lines", "/log?format=jsonl", "jsonl"),
      save("Log as Parquet", "/log?format=parquet", "parquet")), said];
  }

  async askForCertificate() {
    this.refresh.disabled = true;
    try {
      await ask(address(this.name, "/certificate?refresh=true"));
      this.asked();
    } catch (error) {
      say(this.result, `${sentence(error.message)}.`);
      this.failed(error);
    } finally {
      this.refresh.disabled = false;
    }
  }

  /** Everything but the curve and the certificate. */
  showModel(model, now) {
    const { parts } = this;
    this.model = model;
    fill(parts.title, element("h2", { id: "model-title" }, model.name));
    fill(parts.lead, element("p", { class: "lead" }, model.learner, model.frozen && element("span", { class: "badge" }, "frozen"),
      model.frozen && element("span", {}, "It predicts, and learns nothing.")));
    fill(parts.now, element("dl", { class: "now" }, ...[
      ["rounds", number(model.rounds)],
      [`${model.measure}, since the start`, model.text(model.sinceStart)],
      [`${model.measure}, lately`, model.text(model.lately)],
      ["waiting for labels", number(model.waiting.count)],
    ].map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))));
    fill(parts.leader, ...weights(model));
    fill(parts.late, facts([
      ["waiting", counted(model.waiting.count, "example")],
      ["oldest", model.waiting.oldest === null ? null : ago(model.waiting.oldest, now)],
      ["expired", model.expired ? counted(model.expired, "example") : null],
      ...model.delays,
    ]));
    fill(parts.totals, facts(model.totals));
    fill(parts.made, facts([
      ["learner", model.learner],
      ...model.options.map(([name, value]) => [short(name), short(value, 300)]),
      ["created", model.created === null ? null : clock(model.created)],
      ["events in the log", number(model.events)],
    ]));
    fill(parts.nested, ...[...model.nested, ["schema", model.schema]].filter(([, text]) => text).map(([name, text]) =>
      element("details", {}, element("summary", {}, sentence(short(name))), element("pre", {}, text))));
  }

  /** The certificate, or null while there is none. */
  showCertificate(certificate) {
    say(this.result, certificate?.computing ? "A certificate is being computed: the log is replayed." : "");
    const { promise, verdict, theorem } = this.parts;
    fill(promise, ...threeNumbers(certificate));
    fill(verdict, ...verdictOf(certificate));
    fill(theorem, ...theoremOf(certificate));
  }

  showCurve(curve, model) {
    this.picture.show(curve, { text: model.text, tick: model.tick, measure: model.measure });
  }
}

/** The leader and the weights, of committees and experts. */
function weights(model) {
  if (!model.weights.length) return [];
  const shown = model.weights.slice(0, MOST);
  const rest = model.weights.length - shown.length;
  return [element("section", {},
    element("h3", {}, "Leader and weights"),
    model.leader && element("p", {}, `The heaviest of ${number(model.weights.length)}: `, element("b", {}, short(model.leader))),
    bars(shown.map(([name, weight]) => [short(name), weight, percent(weight)])),
    rest > 0 && element("p", { class: "small" }, `${number(rest)} more have ${percent(model.weights.slice(MOST).reduce((sum, [, weight]) => sum + weight, 0))} together.`))];
}
