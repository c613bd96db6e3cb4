// Mouse, touch, keys and buttons.
const LEAST = 1e-4;  // microseconds that a view shows at least

function show(from, to) {
  const length = Math.min(Math.max(to - from, LEAST), programEnd * 1.04);
  const middle = (from + to) / 2, margin = length * 0.02;
  const begin = Math.max(-margin, Math.min(middle - length / 2, programEnd + margin - length));
  view.from = begin;
  view.to = begin + length;
  // The words and rows are those of the launch in the middle.
  const center = Math.max(0, Math.min((view.from + view.to) / 2, programEnd));
  const inside = launches.findIndex((launch) => center <= launch.end);
  if (inside >= 0 && inside !== current) {
    current = inside;
    view.site = null;
    showLaunch();
  }
  redraw();
}
const pan = (time) => show(view.from + time, view.to + time);
function zoom(factor, x = gutter + (rows.clientWidth - gutter) / 2) {
  const at = toTime(Math.max(x, gutter), rows.clientWidth);
  const length = Math.min(Math.max((view.to - view.from) * factor, LEAST), programEnd * 1.04);
  const left = (at - view.from) / (view.to - view.from);
  show(at - left * length, at + (1 - left) * length);
}
function fitLaunch() {
  const launch = launches[current];
  if (launch) show(launch.start - launch.us * 0.01, launch.end + launch.us * 0.01);
}
function goToLaunch(index) {
  if (index < 0 || index >= launches.length) return;
  current = index;
  view.site = null;
  view.top = 0;
  showLaunch();
  fitLaunch();
}
function scrollRows(pixels) {
  view.top += pixels;
  redraw();
}

function spanAt(x, y) {
  if (x < gutter || y < RULER) return null;
  const row = layout.tracks.find((r) => y - RULER + view.top >= r.y && y - RULER + view.top < r.y + rowHeight);
  if (!row) return null;
  const perPixel = (view.to - view.from) / (rows.clientWidth - gutter);
  const time = toTime(x, rows.clientWidth);
  let i = row.track.at(time);
  // Thin spans are hard to hit: the nearest within three pixels.
  if (i < 0) {
    const next = row.track.firstAfter(time);
    const near = [next - 1, next].filter((k) => k >= 0 && k < row.track.length)
        .map((k) => [Math.max(row.track.begin[k] - time, time - row.track.end[k]), k])
        .sort((a, b) => a[0] - b[0])[0];
    if (near && near[0] < 3 * perPixel) i = near[1];
  }
  return i < 0 ? null : { track: row.track, i };
}

function choose(at) {
  view.chosen = at;
  showPanel();
}
function zoomToChosen() {
  if (!view.chosen) return;
  const { track, i } = view.chosen, length = track.ready[i] - track.begin[i];
  show(track.begin[i] - length, track.ready[i] + length);
}
// The next or previous span of the pipe; without one, the first of the launch in sight.
function step(by) {
  const from = Math.max(view.from, launches.length ? launches[current].start : 0);
  let next = null;
  if (view.chosen) {
    next = { track: view.chosen.track, i: view.chosen.i + by };
  } else {
    const row = layout.tracks.find((r) => r.y >= view.top && r.track.firstAfter(from) < r.track.length);
    if (row) next = { track: row.track, i: row.track.firstAfter(from) };
  }
  if (!next || next.i < 0 || next.i >= next.track.length) return;
  const begin = next.track.begin[next.i], length = view.to - view.from;
  if (begin < view.from || begin > view.to) show(begin - length * 0.2, begin + length * 0.8);
  choose(next);
}

// One pointer moves the picture, two zoom it.
const pointers = new Map();
let moved = 0;
const place = (event) => {
  const box = rows.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};
rows.addEventListener("pointerdown", (event) => {
  rows.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  if (pointers.size === 1) moved = 0;
  rows.classList.add("dragging");
});
rows.addEventListener("pointermove", (event) => {
  const now = place(event);
  if (!pointers.has(event.pointerId)) {
    view.pointed = event.pointerType === "mouse" ? spanAt(now.x, now.y) : null;
    showTip(event.clientX, event.clientY);
    redraw();
    return;
  }
  const before = pointers.get(event.pointerId);
  const others = [...pointers].filter(([id]) => id !== event.pointerId);
  pointers.set(event.pointerId, now);
  moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
  const perPixel = (view.to - view.from) / (rows.clientWidth - gutter);
  if (others.length === 0) {
    if (moved < 4) return;
    view.pointed = null;
    showTip(0, 0);
    view.top -= now.y - before.y;
    pan((before.x - now.x) * perPixel);
    return;
  }
  const other = others[0][1];
  const factor = Math.max(Math.abs(before.x - other.x), 20) / Math.max(Math.abs(now.x - other.x), 20);
  moved += 10;
  pan((before.x - now.x) / 2 * perPixel);
  zoom(factor, (now.x + other.x) / 2);
});
const release = (event) => {
  if (!pointers.delete(event.pointerId)) return;
  if (pointers.size === 0) rows.classList.remove("dragging");
  if (event.type === "pointerup" && moved < 6 && pointers.size === 0) {
    const { x, y } = place(event);
    choose(spanAt(x, y));
  }
};
rows.addEventListener("pointerup", release);
rows.addEventListener("pointercancel", release);
rows.addEventListener("pointerleave", () => {
  view.pointed = null;
  showTip(0, 0);
  redraw();
});
rows.addEventListener("dblclick", (event) => {
  const { x, y } = place(event);
  choose(spanAt(x, y));
  if (view.chosen) zoomToChosen(); else zoom(0.5, x);
});
rows.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  const perPixel = (view.to - view.from) / (rows.clientWidth - gutter);
  if (event.ctrlKey || event.metaKey) {
    zoom(Math.exp(event.deltaY * lines * 0.004), place(event).x);
  } else if (event.shiftKey) {
    pan((event.deltaY + event.deltaX) * lines * perPixel);
  } else if (layout.height <= rows.clientHeight - RULER && Math.abs(event.deltaY) > Math.abs(event.deltaX)) {
    zoom(Math.exp(event.deltaY * lines * 0.002), place(event).x);  // there is nowhere to scroll to
  } else {
    view.top += event.deltaY * lines;
    pan(event.deltaX * lines * perPixel);
  }
  const { x, y } = place(event);
  view.pointed = spanAt(x, y);
  showTip(event.clientX, event.clientY);
}, { passive: false });

// The strip: drag inside the window moves it, elsewhere chooses a new one.
let strip = null;
const stripTime = (event) => {
  const box = overview.getBoundingClientRect();
  return (event.clientX - box.left) / box.width * programEnd;
};
overview.addEventListener("pointerdown", (event) => {
  overview.setPointerCapture(event.pointerId);
  const time = stripTime(event), whole = view.to - view.from > programEnd * 0.98;
  strip = { time, x: event.clientX, inside: !whole && time >= view.from && time <= view.to };
});
overview.addEventListener("pointermove", (event) => {
  if (!strip) return;
  const time = stripTime(event);
  if (strip.inside) {
    pan(time - strip.time);
    strip.time = time;
  } else if (Math.abs(event.clientX - strip.x) > 4) {
    show(Math.min(time, strip.time), Math.max(time, strip.time));
  }
});
overview.addEventListener("pointerup", (event) => {
  if (strip && !strip.inside && Math.abs(event.clientX - strip.x) <= 4) {
    const length = view.to - view.from;
    show(strip.time - length / 2, strip.time + length / 2);
  }
  strip = null;
});

function changeTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  readColours();
  redraw();
}
function changeRowHeight() {
  const heights = [0, 12, 18, 26];
  view.rowHeight = heights[(heights.indexOf(view.rowHeight) + 1) % heights.length];
  redraw();
}
function toggleLines() {
  linesWanted = !linesWanted;
  if (!linesWanted) view.site = null;
  showPanel();
}

const quarter = () => (view.to - view.from) / 8;
const keys = {
  ArrowLeft: () => pan(-quarter()), ArrowRight: () => pan(quarter()),
  a: () => pan(-quarter()), d: () => pan(quarter()),
  ArrowUp: () => scrollRows(-60), ArrowDown: () => scrollRows(60),
  PageUp: () => scrollRows(-rows.clientHeight), PageDown: () => scrollRows(rows.clientHeight),
  "+": () => zoom(0.7), "=": () => zoom(0.7), w: () => zoom(0.7),
  "-": () => zoom(1 / 0.7), s: () => zoom(1 / 0.7),
  0: fitLaunch, Home: fitLaunch,
  n: () => step(1), p: () => step(-1), z: zoomToChosen,
  "[": () => goToLaunch(current - 1), "]": () => goToLaunch(current + 1),
  h: changeRowHeight, l: toggleLines, t: changeTheme,
  "?": () => byId("keys").showModal(),
  Escape: () => { view.site = null; choose(null); },
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.target instanceof HTMLSelectElement || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

byId("in").onclick = () => zoom(0.6);
byId("out").onclick = () => zoom(1 / 0.6);
byId("fit").onclick = fitLaunch;
byId("taller").onclick = changeRowHeight;
byId("lines").onclick = toggleLines;
byId("theme").onclick = changeTheme;
byId("help").onclick = () => byId("keys").showModal();
byId("previous").onclick = () => goToLaunch(current - 1);
byId("next").onclick = () => goToLaunch(current + 1);
byId("launch").onchange = (event) => goToLaunch(Number(event.target.value));
byId("launches").hidden = launches.length < 2;
for (const launch of launches) {
  byId("launch").append(new Option(`${launch.index + 1}: ${launch.kernel}`, String(launch.index)));
}

document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
  document.documentElement.dataset.theme = event.matches ? "dark" : "light";
  readColours();
  redraw();
});
new ResizeObserver(redraw).observe(byId("stage"));
readColours();
showLegend();
showLaunch();
fitLaunch();
