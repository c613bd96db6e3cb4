// What is seen, and drawing in general; rows.js draws the rows.
const overview = document.getElementById("overview");
const rows = document.getElementById("rows");
const view = {
  from: 0, to: 1,       // microseconds
  top: 0,               // pixels of rows above the picture
  rowHeight: 0,         // 0: as fits
  chosen: null,         // { track, i }
  pointed: null,
  site: null,           // { launch, site }: the others are pale
};
const RULER = 26, GAP = 8;
let colours = {}, gutter = 120, rowHeight = 14, hatches = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["panel", "text", "muted", "line", "soft", "accent", "band", "scalar", "load",
                      "store", "move", "compute", "barrier", "queue"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  hatches = {};
}

// Waits are hatched, so that work stands out.
function hatch(context, name) {
  if (!hatches[name]) {
    const ratio = window.devicePixelRatio || 1, size = Math.round(6 * ratio);
    const tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const t = tile.getContext("2d");
    t.fillStyle = colours[name];
    t.globalAlpha = 0.16;
    t.fillRect(0, 0, size, size);
    t.globalAlpha = 0.6;
    t.strokeStyle = colours[name];
    t.lineWidth = 1.3 * ratio;
    t.beginPath();
    for (const shift of [-size, 0, size]) { t.moveTo(shift, size); t.lineTo(shift + size, 0); }
    t.stroke();
    const pattern = context.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / ratio));
    hatches[name] = pattern;
  }
  return hatches[name];
}

function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

const font = (size, weight = 400) =>
    `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
const toX = (time, width) => gutter + (time - view.from) / (view.to - view.from) * (width - gutter);
const toTime = (x, width) => view.from + (x - gutter) / (width - gutter) * (view.to - view.from);

let busyBins = null;
function drawOverview() {
  const { context, width, height } = prepare(overview);
  if (!busyBins || busyBins.width !== width) {
    busyBins = { width, busy: busyness(Math.max(1, Math.min(1200, Math.floor(width / 2)))) };
  }
  const bins = busyBins.busy[0].length, step = width / bins, floor = height - 3, tall = height - 9;
  for (const [pipe, name] of [[IO, "load"], [COMPUTE, "compute"]]) {
    context.beginPath();
    context.moveTo(0, floor);
    for (let i = 0; i < bins; ++i) {
      const y = floor - busyBins.busy[pipe][i] * tall;
      context.lineTo(i * step, y);
      context.lineTo((i + 1) * step, y);
    }
    context.lineTo(width, floor);
    context.fillStyle = context.strokeStyle = colours[name];
    context.globalAlpha = 0.28;
    context.fill();
    context.globalAlpha = 0.9;
    context.stroke();
  }
  context.globalAlpha = 1;
  context.fillStyle = colours.muted;
  for (const launch of launches) {
    if (launch.start > 0) context.fillRect(Math.round(launch.start / programEnd * width), 0, 1, height);
  }
  const left = view.from / programEnd * width, right = Math.max(view.to / programEnd * width, left + 2);
  if (left > 0.5 || right < width - 0.5) {
    context.fillStyle = colours.panel;
    context.globalAlpha = 0.72;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 1), height - 1.5);
    context.lineWidth = 1;
  }
}

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    drawRows();
    drawOverview();
  });
}
