// Requests to the service. The token, where one is needed, is kept until the tab is closed, and in no address.

const KEPT = "afterwit.token";
/** A stream that says nothing for so long is dead: the service sends a comment every 15 seconds. */
const SILENCE = 40_000;
const FIRST_WAIT = 500, LONGEST_WAIT = 15_000;

/** An answer that is not a success: its status, and the sentence of the service. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEPT),
  keep: (value) => sessionStorage.setItem(KEPT, value),
  forget: () => sessionStorage.removeItem(KEPT),
};

/** The answer to a request, which is a success. */
async function answer(path, options = {}) {
  const headers = token.get() ? { Authorization: `Bearer ${token.get()}` } : {};
  const response = await fetch(path, { cache: "no-store", ...options, headers });
  if (response.ok) return response;
  let said = "";
  try {
    said = (await response.json()).error;
  } catch {
    // Not an answer of the service itself: a proxy in front of it, for example.
  }
  throw new Refusal(response.status, said || `the service answered ${response.status} ${response.statusText}`.trim());
}

/** The address of something of a model. */
export function address(model, part = "") {
  return `models/${encodeURIComponent(model)}${part}`;
}

export async function ask(path) {
  return (await answer(path)).json();
}

/** Save what is at a path as a file of this name. */
export async function download(path, name) {
  const content = await (await answer(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The events of a stream, each as its JSON, until it ends. */
async function* events(path, signal) {
  const response = await answer(path, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split(/\r?\n\r?\n/);
    text = parts.pop();
    // What only keeps the connection alive is no event, but a sign of life.
    if (parts.length === 0) continue;
    for (const part of parts) {
      const lines = part.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      yield lines.length ? JSON.parse(lines.map((line) => line.slice(5)).join("\n")) : null;
    }
  }
}

/**
 * Follow a stream for good: whenever it ends it is opened again, after a wait that grows.
 *
 * heard    is called with each event
 * changed  is called with "lost" (and why) or "refused" (and why)
 *
 * Gives the function that ends it.
 */
export function follow(path, heard, changed) {
  let ended = false, wait = FIRST_WAIT, attempt = null, wake = null;

  const once = async () => {
    attempt = new AbortController();
    let watch = null;
    const alive = () => {
      clearTimeout(watch);
      watch = setTimeout(() => attempt.abort(), SILENCE);
    };
    try {
      alive();
      for await (const event of events(path, attempt.signal)) {
        alive();
        wait = null;
        if (event) heard(event);
      }
      return null;
    } finally {
      clearTimeout(watch);
      attempt.abort();
    }
  };

  const run = async () => {
    while (!ended) {
      let why = "the stream ended";
      try {
        await once();
      } catch (error) {
        if (ended) return;
        if (error.status === 401 || error.status === 403) {
          changed("refused", error.message);
          return;
        }
        if (error instanceof Refusal) why = error.message;
        else why = "the service does not answer";
      }
      if (ended) return;
      wait = Math.min(LONGEST_WAIT, (wait ?? FIRST_WAIT / 1.7) * 1.7);
      changed("lost", why);
      // Many pages that lost the same service do not come back at the same moment.
      const pause = wait * (0.8 + 0.4 * Math.random());
      await new Promise((resolve) => {
        wake = resolve;
        setTimeout(resolve, pause);
      });
    }
  };

  const now = () => wake?.();
  window.addEventListener("online", now);
  run();
  return () => {
    ended = true;
    window.removeEventListener("online", now);
    attempt?.abort();
    now();
  };
}
