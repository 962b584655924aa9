// The page of the service: a list of models, one of them in full, and the service itself; kept live by one stream.

import { element, fill, say } from "./elements.js";
import { ModelView } from "./model.js";
import { readCertificate, readCurve, readModel, readService } from "./readings.js";
import { address, ask, follow, token } from "./service.js";
import { clock, counted, number } from "./words.js";

const place = (id) => document.getElementById(id);
/** The view of the model that is shown, and everything that is known. */
const shown = { view: null, model: null, certificate: null, curve: null, wanted: {}, busy: {}, have: {} };
const known = { models: new Map(), service: readService({}), entries: new Map() };
let stop = () => {};

// ---------------------------------------------------------------------- the stream

function start() {
  stop();
  place("access").hidden = true;
  place("forget").hidden = !token.get();
  connection("wait", "Connecting");
  stop = follow("live", heard, (state, why, seconds) => {
    if (state === "open") connection("open", "Live");
    else if (state === "lost") connection("lost", `Not connected: ${why}. Trying again in ${Math.ceil(seconds)} s`);
    else refused(why);
  });
}

/** The stream says what has changed since its last event; its first event has everything. */
function heard(said) {
  known.service = readService(said.service);
  known.models = new Map(said.models.map((each) => [each.model, readModel(each)]));
  place("rooms").hidden = false;
  list();
  traffic();
  route();
  refresh();
}

function connection(state, text) {
  place("connection").className = `connection ${state}`;
  say(place("connection"), text);
}

/** The service asks for a token, or for another one. */
function refused(why) {
  stop();
  connection("lost", "Not connected");
  place("rooms").hidden = true;
  place("access").hidden = false;
  say(place("why"), token.get() ? why : "This service asks for a token. It is kept until this tab is closed.");
  place("token").value = "";
  place("token").focus();
}

// ---------------------------------------------------------------------- the list

function list() {
  const { models, entries } = known;
  for (const name of [...entries.keys()].filter((each) => !models.has(each))) {
    entries.get(name).remove();
    entries.delete(name);
  }
  for (const model of models.values()) {
    if (!entries.has(model.name)) {
      const entry = element("li");
      entries.set(model.name, entry);
      place("models").append(entry);
    }
    fill(entries.get(model.name), entryOf(model));
  }
  place("no-models").hidden = models.size > 0;
  say(place("summary"), `${counted(models.size, "model")} · ${rate()}`);
}

function entryOf(model) {
  const current = model.name === shown.model;
  return element("a", { href: `#/${encodeURIComponent(model.name)}`, "aria-current": current ? "true" : null },
    element("span", { class: "name" }, model.name, model.frozen && element("span", { class: "badge" }, "frozen")),
    element("span", { class: "learner" }, model.learner),
    element("span", { class: "amounts" },
      model.rounds ? `${counted(model.rounds, "round")}, ${model.measure} ${model.text(model.sinceStart)}` : "no round yet"),
    model.waiting.count > 0 && element("span", { class: "amounts" }, `${number(model.waiting.count)} waiting for labels`));
}

// ---------------------------------------------------------------------- one model

const wide = matchMedia("(min-width: 900px)");

/** Show the model that the address names; on a wide screen there is always one. */
function route() {
  const { models } = known;
  const asked = location.hash.startsWith("#/") ? decoded(location.hash.slice(2)) : "";
  const chosen = models.has(asked) ? asked : null;
  const alone = models.size === 1 || wide.matches ? [...models.keys()][0] ?? null : null;
  document.body.classList.toggle("one", chosen !== null);
  choose(chosen ?? alone);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

function choose(name) {
  if (name === shown.model) return;
  shown.view?.end();
  Object.assign(shown, { model: name, view: null, certificate: null, curve: null, wanted: {}, busy: {}, have: {} });
  place("main").replaceChildren();
  place("main").hidden = name === null;
  document.title = name === null ? "afterwit · service" : `${name} · afterwit`;
  if (name === null) return;
  shown.view = new ModelView(place("main"), name, failed);
  list();
  refresh();
}

/** Bring what is shown of the model up to date; its curve and its certificate are asked for only where they changed. */
function refresh() {
  const { view } = shown;
  const model = known.models.get(shown.model);
  if (!model) return;
  view.showModel(model, known.service.now);
  latest("curve", `${model.rounds}`, async () => {
    shown.curve = await ask(address(model.name, "/curve"));
  });
  latest("certificate", model.certificate, async () => {
    shown.certificate = readCertificate(await ask(address(model.name, "/certificate")));
    view.showCertificate(shown.certificate);
  });
}

/** Bring one thing to the latest state, unless it is there; of several wishes while it is on its way, the last counts. */
async function latest(what, state, bring) {
  const { view, wanted, busy } = shown;
  wanted[what] = state;
  if (busy[what]) return;
  busy[what] = true;
  while (view === shown.view && shown.have[what] !== wanted[what]) {
    const wish = wanted[what];
    try {
      await bring();
    } catch (error) {
      failed(error);
      break;
    }
    if (view !== shown.view) break;
    shown.have[what] = wish;
    if (shown.curve) view.showCurve(readCurve(shown.curve, shown.certificate), known.models.get(view.name));
  }
  busy[what] = false;
}

function failed(error) {
  if (error.status === 401) refused(error.message);
}

// ---------------------------------------------------------------------- the service

function rate() {
  const { perSecond } = known.service;
  return perSecond === null ? "" : `${number(Number(perSecond.toPrecision(3)))} requests per second`;
}

function traffic() {
  const { errors } = known.service;
  fill(place("traffic"), element("p", {}, rate()));
  fill(place("errors"), errors.length
    ? element("ol", { class: "errors" }, ...errors.toReversed().map((each) => element("li", {},
      element("span", { class: "small" }, `${clock(each.at)} · ${each.status} · ${each.request}`), element("span", {}, each.error))))
    : element("p", { class: "small" }, "None."));
}

// ---------------------------------------------------------------------- what people do

place("access").addEventListener("submit", (event) => {
  event.preventDefault();
  token.keep(place("token").value.trim());
  start();
});
place("forget").addEventListener("click", () => {
  token.forget();
  start();
});
addEventListener("hashchange", () => {
  route();
  if (document.body.classList.contains("one")) place("main").focus();
});
wide.addEventListener("change", route);
start();
