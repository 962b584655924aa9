// A certificate as our reports show it: the three numbers, the verdict, the theorem and what it assumes.

import { element, sign, table } from "./elements.js";
import { number, sentence } from "./words.js";

const SIGNS = { holds: "✓", violated: "✗", "not applicable": "–" };

/** The three numbers. A bound about other predictions than those that were served does not stand beside these. */
export function threeNumbers(certificate) {
  if (!certificate?.made || certificate.about !== "served") return [];
  return [element("ul", { class: "numbers" }, ...certificate.made.numbers.map(card))];
}

function card({ name, shown, quantity, rate, note }) {
  const bounds = isBound(name);
  return element("li", { class: `number ${bounds ? "bound" : name}` },
    element("p", { class: "name" }, sentence(name)),
    element("p", { class: shown.length > 9 ? "value long" : "value" },
      bounds && shown && element("span", { class: "most" }, element("span", { "aria-hidden": "true" }, "≤"), element("span", { class: "heard" }, "at most"), " "),
      shown || "none"),
    shown && element("p", { class: "unit" }, quantity),
    shown && rate && element("p", { class: "rate" }, rate),
    note && element("p", { class: "note" }, note));
}

/** The verdict, at which round it stands, and what it is about. */
export function verdictOf(certificate) {
  if (!certificate?.made) {
    // What is on its way is said beside the button.
    if (certificate?.computing) return [];
    const why = certificate?.why || "no certificate has been made yet";
    return [element("p", { class: "verdict" }, sign("–"), element("span", {}, `${sentence(why)}.`))];
  }
  const { made, about, sentence: said } = certificate;
  const within = made.because.length ? `: ${made.because.join("; ")}` : ": what happened is within the bound";
  const other = [about === "learning" && aboutLearning(made), said, made.late && `${sentence(made.late)}.`];
  return [element("p", { class: `verdict ${made.verdict.replaceAll(" ", "-")}` }, sign(SIGNS[made.verdict] ?? "?"),
    element("span", {},
      element("b", {}, sentence(made.verdict)), ` at round ${number(made.rounds)}${made.remark || within}.`,
      element("span", { class: "small" }, other.filter(Boolean).join(" "))))];
}

/** The three numbers in a sentence. */
function aboutLearning({ numbers }) {
  const parts = numbers.filter(({ shown }) => shown).map(({ name, shown, quantity, rate }) =>
    `${name} ${isBound(name) ? "at most " : ""}${shown} ${quantity}${rate ? ` (${rate})` : ""}`);
  return `At the moment of learning: ${parts.join(", ")}.`;
}

function isBound(name) {
  return name === "promised" || name === "bound";
}

/** The theorem, what it assumes and the other bounds, folded. */
export function theoremOf(certificate) {
  if (!certificate?.made) return [];
  const { theorem, inputs, assumptions, others } = certificate.made;
  return [element("details", {}, element("summary", {}, "The theorem and what it assumes"),
    element("div", { class: "box" },
      element("p", { class: "theorem" }, sentence(theorem.name)),
      element("p", { class: "small" }, theorem.citation),
      element("p", { class: "statement" }, theorem.statement),
      inputs && element("p", { class: "small" }, `with ${inputs}`),
      assumptions.length > 0 && element("h4", {}, "What it assumes"),
      assumptions.length > 0 && element("ul", { class: "asks" }, ...assumptions.map(asked)),
      others.length > 0 && element("h4", {}, "Other bounds"),
      others.length > 0 && table("Other bounds", ["theorem", "about", "bound", "happened", "verdict"],
        others.map(({ name, quantity, bound, observed, verdict }) => [name, quantity, number(bound), number(observed), verdict]))))];
}

function asked({ statement, basis, holds, detail }) {
  const assumed = holds === null && basis === "the caller's promise";
  const [mark, kind, status] = holds === null ? ["?", "", assumed ? "assumed" : "unknown"]
    : holds ? ["✓", "holds", "yes"] : ["✗", "violated", "no"];
  return element("li", { class: kind || null }, sign(mark),
    element("span", {}, statement, element("span", { class: "small" }, `${status}, ${basis}${detail ? `: ${detail}` : ""}`)));
}
