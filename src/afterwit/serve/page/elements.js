// Building and changing the page. Whatever comes from the service becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** A new element: attributes by name, functions as listeners of events; null leaves an attribute out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== false) made.setAttribute(key, String(value));
  }
  made.append(...present(children));
  return made;
}

/** A sign with a meaning that is said in words beside it. */
export function sign(text) {
  return element("span", { class: "sign", "aria-hidden": "true" }, text);
}

/**
 * Make these the children of a place. What is alike stays, so that focus, selection, scrolling and what was unfolded stay
 * too; so listeners have no place in what changes.
 */
export function fill(place, ...children) {
  const fresh = document.createDocumentFragment();
  fresh.append(...present(children));
  become(place, fresh);
}

function become(old, fresh) {
  const wanted = [...fresh.childNodes];
  [...old.childNodes].slice(wanted.length).forEach((each) => each.remove());
  wanted.forEach((next, i) => {
    const now = old.childNodes[i];
    if (!now) old.append(next);
    else if (now.isEqualNode(next)) return;
    else if (now.nodeName !== next.nodeName) now.replaceWith(next);
    else if (now.nodeType === Node.TEXT_NODE) now.data = next.data;
    else {
      for (const { name } of [...now.attributes]) if (name !== "open" && !next.hasAttribute(name)) now.removeAttribute(name);
      for (const { name, value } of next.attributes) if (now.getAttribute(name) !== value) now.setAttribute(name, value);
      become(now, next);
    }
  });
}

/** Show a text in a place, which is hidden where there is none. */
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
}

/** A table that is moved sideways where it is too wide. Columns of numbers stand at the right. */
export function table(title, heads, rows) {
  const numeric = heads.map((_, i) => rows.length > 0 && rows.every((row) => /^([-−]?[\d,.]+(e[-+]?\d+)?%?|–|)$/.test(row[i])));
  const kind = (i) => ({ class: numeric[i] ? "n" : null });
  return element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": title },
    element("table", {},
      element("thead", {}, element("tr", {}, ...heads.map((head, i) => element("th", { scope: "col", ...kind(i) }, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, i) => element("td", kind(i), cell)))))));
}

/** Facts: a table with a name and a value in each row. Facts without a value are left out. */
export function facts(rows) {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return element("table", { class: "facts" }, element("tbody", {}, ...known.map(([name, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)))));
}

/** Bars with names, for parts of a whole: [name, part, text]. */
export function bars(rows) {
  return element("ul", { class: "bars" }, ...rows.map(([name, part, text]) => {
    const drawn = document.createElementNS(SVG, "svg");
    drawn.setAttribute("viewBox", "0 0 100 1");
    drawn.setAttribute("preserveAspectRatio", "none");
    drawn.setAttribute("aria-hidden", "true");
    for (const [kind, width] of [["ground", 100], ["part", Math.max(0.4, Math.min(1, part) * 100)]]) {
      const bar = document.createElementNS(SVG, "rect");
      bar.setAttribute("class", kind);
      bar.setAttribute("width", String(width));
      bar.setAttribute("height", "1");
      drawn.append(bar);
    }
    return element("li", {}, element("span", { class: "of" }, name), drawn, element("span", { class: "amount" }, text));
  }));
}

function present(children) {
  return children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== "");
}
