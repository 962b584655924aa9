// Numbers and times as people read them.

/** A number as certificates print it. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size >= 9999.5 && size < 1e15) return Math.round(value).toLocaleString("en-US");
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(3).replace(/\.?0+e/, "e");
  return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 10 });
}

/** A share of the rounds. */
export function percent(value) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(2)}%`;
}

/** 1 example, 2 examples. */
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A span of time. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.0995) return `${number(Number((seconds * 1000).toPrecision(2)))} ms`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  for (const [size, unit] of [[86400, "days"], [3600, "hours"], [60, "min"]])
    if (seconds >= 2 * size) return `${Math.floor(seconds / size).toLocaleString("en-US")} ${unit}`;
  return `${Math.round(seconds)} s`;
}

/** How long ago something was: microseconds since 1970 and now. */
export function ago(at, now) {
  const seconds = Math.max(0, (now - at) / 1e6);
  return seconds < 2 ? "just now" : `${span(seconds)} ago`;
}

/** A time of day, with the date where that is not today. */
export function clock(at) {
  const time = new Date(at / 1000);
  const today = time.toDateString() === new Date().toDateString();
  return today ? time.toLocaleTimeString() : time.toLocaleString();
}

/** The first letter large. */
export function sentence(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A text that is not longer than this. */
export function short(text, most = 80) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
