// What is wrong with a loaded page that is so many pixels wide: evaluated in it by tests/browser.py.
(width) => {
  const overflowing = [], empty = [];
  const SLACK = 1.5;  // pixels are rounded

  document.querySelectorAll("details").forEach((each) => { each.open = true; });

  const words = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 60));
  const name = (element) => {
    const kind = typeof element.className === "string" && element.className ? "." + element.className.split(" ")[0] : "";
    return `<${element.tagName.toLowerCase()}${kind}>`;
  };
  const visible = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const scrolls = (overflow) => overflow === "auto" || overflow === "scroll";
  // Hidden from sight on purpose, for screen readers.
  const unseen = (element) => { const box = element.getBoundingClientRect(); return box.width <= 1 || box.height <= 1; };

  if (document.documentElement.scrollWidth > width + SLACK)
    overflowing.push(`the page is ${document.documentElement.scrollWidth} pixels wide on a screen of ${width}`);

  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg") || !element.textContent.trim() || !visible(element) || unseen(element)) continue;
    const style = getComputedStyle(element);
    if (style.display === "inline" || style.display === "contents") continue;
    if (element.scrollWidth > element.clientWidth + SLACK && !scrolls(style.overflowX))
      overflowing.push(`${name(element)} is ${element.scrollWidth} pixels wide in a place of ${element.clientWidth}: ${words(element.textContent)}`);
    const cutsBelow = style.overflowY === "hidden" || style.overflowY === "clip";
    if (cutsBelow && element.scrollHeight > element.clientHeight + SLACK)
      overflowing.push(`${name(element)} is cut below: ${words(element.textContent)}`);
  }

  const shown = (shape) => {
    const box = shape.getBoundingClientRect();
    const style = getComputedStyle(shape);
    return box.width + box.height > 0 && visible(shape) && (style.fill !== "none" || style.stroke !== "none");
  };
  for (const picture of document.querySelectorAll("svg")) {
    if (!visible(picture)) continue;
    const frame = picture.getBoundingClientRect();
    const title = words(picture.querySelector("title")?.textContent ?? picture.id);
    if (picture.parentElement.closest("svg")) continue;
    const shapes = picture.querySelectorAll("path, rect, circle, ellipse, line, polyline, polygon, text, use, image");
    const inUse = [...shapes].filter((shape) => !shape.closest("defs, clipPath, mask, symbol, marker"));
    if (frame.width < 1 || frame.height < 1 || !inUse.some(shown)) {
      empty.push(`the picture ${title} is empty`);
      continue;
    }
    const texts = inUse.filter((shape) => shape.tagName === "text" && shape.textContent.trim() && shown(shape));
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((box, i) => {
      const outside = box.left < frame.left - SLACK || box.right > frame.right + SLACK ||
        box.top < frame.top - SLACK || box.bottom > frame.bottom + SLACK;
      if (outside) overflowing.push(`in the picture ${title}, ${words(texts[i].textContent)} leaves the frame`);
      boxes.slice(i + 1).forEach((other, j) => {
        const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        // A box of text has room above and below its letters, or beside them if it stands upright.
        const slack = (a, b) => 0.3 * Math.min(a, b);
        const upright = box.height > box.width && other.height > other.width;
        const room = upright
          ? [slack(box.width, other.width), SLACK] : [SLACK, slack(box.height, other.height)];
        if (across > room[0] && down > room[1])
          overflowing.push(`in the picture ${title}, ${words(texts[i].textContent)} covers ${words(texts[i + 1 + j].textContent)}`);
      });
    });
  }
  for (const image of document.querySelectorAll("img"))
    if (visible(image) && image.complete && !image.naturalWidth) empty.push(`the image ${image.getAttribute("src")} has no content`);

  return { overflowing, empty };
}
