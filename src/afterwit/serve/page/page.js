// The page of the service: a list of models, one of them in full, and the service itself; kept live by one stream.

import { element, fill, say } from "./elements.js";
import { ModelView } from "./model.js";
import { readCertificate, readCurve, readModel, readService, readShort } from "./readings.js";
import { address, ask, follow, token } from "./service.js";
import { clock, counted, number, sentence } from "./words.js";

const place = (id) => document.getElementById(id);
/** A certificate is asked for again when the rounds have doubled, or after so many milliseconds if there are more. */
const PAUSE = 20_000;
/** The model that is shown, and everything that is known. */
const shown = { name: null, view: null, model: null, certificate: null, curve: null, read: null, asked: 0, at: 0, busy: false };
const known = { models: new Map(), service: readService({}), heard: 0, entries: new Map() };
/** Which model the stream tells more of, and how to end it. */
let followed = null, stop = () => {};

// ---------------------------------------------------------------------- the stream

/** Follow the service, and the model that is shown or will be. */
function start() {
  stop();
  followed = shown.name ?? asked();
  place("access").hidden = true;
  place("forget").hidden = !token.get();
  stop = follow(followed === null ? "live" : `live?model=${encodeURIComponent(followed)}`, heard, (state, why) => {
    if (state === "lost") connection("lost", `Not connected: ${why}. Trying again.`);
    else refused(why);
  });
}

/** An event of the stream: the service, and where they have changed all models in short and the one that is shown. */
function heard(said) {
  known.service = readService(said.service);
  known.heard = performance.now();
  if (known.service.state !== "ready") connection("wait", `The service is ${known.service.state}`);
  else connection("open", "Live");
  // A service that is starting or standing by says nothing of its models; what was known stays.
  if (said.models) {
    known.models = new Map(said.models.map((each) => [each.model, readShort(each)]));
    place("rooms").hidden = false;
    list();
    route();
  }
  traffic();
  if (said.shown?.model.model === shown.name) Object.assign(shown, { model: readModel(said.shown.model), curve: said.shown.curve });
  show();
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
  say(place("why"), token.get() ? `${sentence(why)}.` : "This service asks for a token. It is kept until this tab is closed.");
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
}

function entryOf(model) {
  const current = model.name === shown.name;
  const rounds = model.rounds ? counted(model.rounds, "round") : "no round yet";
  return element("a", { href: `#/${encodeURIComponent(model.name)}`, "aria-current": current ? "true" : null },
    element("span", { class: "name" }, model.name),
    model.rounds > 0 && element("span", { class: "value" }, element("span", { class: "heard" }, model.measure), " ", model.text(model.sinceStart)),
    element("span", { class: "small" }, model.learner),
    element("span", { class: "small value" }, rounds),
    model.frozen && element("span", { class: "small" }, "frozen"),
    model.waiting > 0 && element("span", { class: "small value" }, `${number(model.waiting)} waiting`));
}

const wide = matchMedia("(min-width: 900px)");

/** The model that the address names, or null. */
function asked() {
  return location.hash.startsWith("#/") ? decoded(location.hash.slice(2)) : null;
}

/** Show the model that the address names; on a wide screen there is always one. */
function route() {
  const { models } = known;
  const chosen = models.has(asked()) ? asked() : null;
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
  if (name === shown.name) return;
  shown.view?.end();
  Object.assign(shown, { name, view: null, model: null, certificate: null, curve: null, read: null, asked: 0, at: 0, busy: false });
  place("main").replaceChildren();
  place("main").hidden = name === null;
  document.title = name === null ? "afterwit · service" : `${name} · afterwit`;
  if (name !== null) shown.view = new ModelView(place("main"), name, { asked: readAgain, failed });
  list();
  if (name !== followed) start();
}

/** Show what is known of the model. */
function show() {
  const { view, model, curve, certificate } = shown;
  if (!model) return;
  view.showModel(model, now());
  view.showCurve(readCurve(curve, certificate, model.quantity), model);
  const more = model.rounds > shown.asked && (model.rounds >= 2 * shown.asked || Date.now() - shown.at > PAUSE);
  if (shown.read !== model.certificate || more) readAgain();
}

/** What the clock of the service shows, in microseconds. */
function now() {
  return known.service.now + 1000 * (performance.now() - known.heard);
}

/** Ask for the certificate. The service computes another one where this is old, and is asked again until that is there. */
async function readAgain() {
  const { view, model } = shown;
  if (shown.busy) return;
  Object.assign(shown, { busy: true, read: model.certificate, asked: model.rounds, at: Date.now() });
  try {
    let certificate;
    do {
      if (certificate) await new Promise((resolve) => { setTimeout(resolve, 1000); });
      certificate = readCertificate(await ask(address(model.name, "/certificate")));
      if (view !== shown.view) return;
      shown.certificate = certificate;
      view.showCertificate(certificate);
    } while (certificate.computing && view === shown.view);
  } catch (error) {
    failed(error);
  } finally {
    if (view === shown.view) shown.busy = false;
  }
  show();
}

function failed(error) {
  if (error.status === 401) refused(error.message);
}

// ---------------------------------------------------------------------- the service

function traffic() {
  const { errors, perSecond } = known.service;
  say(place("summary"), `${counted(known.models.size, "model")} · ${number(Number(perSecond.toPrecision(3)))} requests per second`);
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
// Ages grow while nothing happens.
setInterval(() => shown.model && shown.view.showModel(shown.model, now()), 10_000);
start();
