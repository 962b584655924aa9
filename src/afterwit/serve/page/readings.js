// What the service says, as the page shows it: the one place that knows the names in its JSON.

import { counted, number, percent, short, span } from "./words.js";

/** A model of the list. */
export function readShort(said) {
  return { name: said.model, learner: said.learner, frozen: said.frozen, waiting: said.waiting, ...readError(said) };
}

/** What went wrong: mistakes are a share of the rounds, losses have a mean. */
function readError(totals) {
  const counts = totals.mistakes !== undefined;
  return {
    rounds: totals.rounds,
    measure: counts ? "error" : "mean loss",
    /** What a certificate on the same counts. */
    quantity: counts ? "mistakes" : "loss",
    sinceStart: counts ? totals.error : totals.mean_loss,
    lately: counts ? totals.error_lately : totals.mean_loss_lately,
    text: counts ? percent : number,
    tick: counts ? (value) => `${number(Number((100 * value).toPrecision(6)))}%` : number,
  };
}

/** The model that is shown. */
export function readModel(said) {
  const { totals } = said;
  return {
    name: said.model,
    learner: said.learner,
    ...readOptions(said.options),
    schema: said.schema ? JSON.stringify(said.schema, null, 2) : null,
    created: said.created ?? null,
    events: said.events,
    frozen: said.frozen,
    ...readError(totals),
    totals: readTotals(totals),
    waiting: { count: totals.waiting, oldest: said.waiting?.oldest ?? null },
    expired: totals.expired,
    delays: readDelays(said.delays),
    leader: said.leader ?? null,
    weights: said.weights ?? [],
    /** Changes with the certificate. */
    certificate: JSON.stringify(said.certificate ?? null),
  };
}

/** Options that were given, as facts; what is made of several things, such as other learners, as JSON. */
function readOptions(said) {
  const given = Object.entries(said).filter(([, value]) => value !== null);
  const nested = given.filter(([, value]) => typeof value === "object" && !Array.isArray(value));
  const plain = (value) => (Array.isArray(value) ? value.map(plain).join(", ") : typeof value === "string" ? value : JSON.stringify(value));
  return {
    options: given.filter((each) => !nested.includes(each)).map(([name, value]) => [name, plain(value)]),
    nested: nested.map(([name, value]) => [name, JSON.stringify(value, null, 2)]),
  };
}

/** What became of the predictions, as facts. */
function readTotals(totals) {
  const sharing = totals.coverage === undefined ? [] : [
    ["intervals that covered", percent(totals.coverage)],
    ["mean width", number(totals.mean_width)],
    ["infinite intervals", number(totals.infinite)],
  ];
  return [
    ["predictions", number(totals.predictions)],
    ["labels that came later", number(totals.labels)],
    ["examples with their label", number(totals.examples)],
    ["mistakes", totals.mistakes === undefined ? null : number(totals.mistakes)],
    ["root mean squared error", totals.rmse === undefined ? null : number(totals.rmse)],
    ["lately means", totals.lately ? `the last ${counted(totals.lately, "round")}` : null],
    ...sharing,
    ["not asked for", totals.unasked ? counted(totals.unasked, "label") : null],
  ];
}

/** The delays that happened, as facts. */
function readDelays({ rounds, milliseconds }) {
  if (milliseconds.mean === null) return [["delays", "no label has come later than its example"]];
  return [
    ["mean delay", `${span(milliseconds.mean / 1000)}, ${counted(Number(rounds.mean.toPrecision(3)), "round")} learned in between`],
    ["largest delay", `${span(milliseconds.largest / 1000)}, at most ${counted(rounds.largest, "round")} learned in between`],
  ];
}

/** A curve: lists of the same length by rounds, with null where there is no number. */
export function readCurve(said, certificate, quantity) {
  const points = new Map();
  const at = (round) => {
    if (!points.has(round)) points.set(round, { sinceStart: null, lately: null, bound: null, hindsight: null });
    return points.get(round);
  };
  said.rounds.forEach((round, i) => Object.assign(at(round), { sinceStart: said.error[i], lately: said.lately[i] }));
  // A bound on something else, or about the moment of learning, has no place beside what was served.
  if (certificate?.about === "served" && certificate.made?.quantity === quantity)
    for (const { rounds, bound, hindsight } of certificate.points) {
      if (rounds) Object.assign(at(rounds), { bound: each(quantity === "mistakes" && bound !== null ? Math.floor(bound) : bound, rounds), hindsight: each(hindsight, rounds) });
    }
  const rounds = [...points.keys()].sort((a, b) => a - b);
  const column = (key) => rounds.map((round) => points.get(round)[key]);
  return { rounds, ...Object.fromEntries(["sinceStart", "lately", "bound", "hindsight"].map((key) => [key, column(key)])) };
}

function each(sum, rounds) {
  return sum === null || sum === undefined ? null : sum / rounds;
}

/** A certificate, or what there is in its place. */
export function readCertificate(said) {
  const made = said.certificate ?? null;
  return {
    about: said.about ?? "served",
    sentence: said.sentence ?? "",
    why: said.why ?? "",
    computing: Boolean(said.computing),
    points: said.points ?? [],
    made: made && {
      ...made,
      inputs: Object.entries(made.inputs).map(([name, value]) => `${name} = ${typeof value === "number" ? number(value) : value}`).join(", "),
      others: made.others.map((other) => ({ ...other, name: other.theorem.name })),
    },
  };
}

/** What the service says of itself. */
export function readService(said) {
  return {
    now: said.now ?? Date.now() * 1000,
    state: said.state ?? "",
    perSecond: said.requests_per_second ?? 0,
    errors: (said.errors ?? []).map(({ at, status, method, path, error }) => ({ at: at * 1e6, status, request: `${method} ${path}`, error: short(error, 300) })),
  };
}
