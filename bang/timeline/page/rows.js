// Draws the rows: a track per pipe of every core, the ruler above them and their names beside them.
// Where each track lies, from the top of all rows: of the units and pipes of the current launch.
let current = 0;
let layout = { tracks: [], units: [], height: 0 };
function arrange() {
  const launch = launches[current];
  gutter = rows.clientWidth < 560 ? 62 : 128;
  layout = { tracks: [], units: [], height: 0 };
  if (!launch) return;
  const shown = units.filter((unit) => launch.units.has(unit.unit))
      .map((unit) => ({ unit, tracks: unit.tracks.filter((track) => launch.pipes.has(track.pipe)) }));
  const count = shown.reduce((sum, { tracks }) => sum + tracks.length, 0);
  const fitting = Math.floor((rows.clientHeight - RULER - GAP * (shown.length + 1)) / Math.max(count, 1));
  rowHeight = view.rowHeight || (fitting < 14 ? 16 : Math.min(fitting, 30));
  let y = GAP;
  for (const { unit, tracks } of shown) {
    layout.units.push({ unit, tracks, y, height: tracks.length * rowHeight });
    for (const track of tracks) {
      layout.tracks.push({ track, unit, y });
      y += rowHeight;
    }
    y += GAP;
  }
  layout.height = y;
}

// A round distance of ticks: 1, 2 or 5 times a power of ten.
function tickStep(span, width) {
  const raw = span / Math.max(1, width / 110), power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
}

// Times are those of the current launch.
function drawRuler(context, width, height) {
  const zero = launches.length ? launches[current].start : 0;
  const from = view.from - zero, to = view.to - zero;
  const step = tickStep(to - from, width - gutter);
  const [unit, scale] = [["s", 1e6], ["ms", 1e3], ["µs", 1]].find(([, size]) => to - from > size * 2) || ["ns", 1e-3];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
  context.font = font(11);
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let i = Math.ceil(from / step); i * step <= to; ++i) {
    const x = Math.round(toX(zero + i * step, width)) + 0.5;
    context.strokeStyle = colours.line;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
    context.fillStyle = colours.muted;
    context.fillText(`${(i * step / scale).toFixed(decimals)} ${unit}`, x + 5, RULER / 2);
  }
}

function drawTrack(context, { track, y }, width) {
  const top = y - view.top + RULER + 1, tall = rowHeight - 2;
  const scale = (width - gutter) / (view.to - view.from);
  const first = track.firstAfter(view.from);
  // Spans thinner than a pixel: how much of each pixel each colour covers.
  let pixel = -1, covered = {};
  const flush = () => {
    for (const name in covered) {
      context.globalAlpha = Math.min(1, 0.06 + covered[name]);
      context.fillStyle = colours[name];
      context.fillRect(pixel, top, 1, tall);
    }
    covered = {};
  };
  for (let i = first; i < track.length && track.begin[i] < view.to; ++i) {
    const left = gutter + (track.begin[i] - view.from) * scale;
    const right = gutter + (track.end[i] - view.from) * scale;
    const rest = track.rest[i], name = track.colour[i];
    const pale = view.site && (view.site.site !== rest.site || view.site.launch !== track.launch[i]);
    if (right - left < 1) {
      const at = Math.max(gutter, Math.floor(left));
      if (at !== pixel) { flush(); pixel = at; }
      const weight = (rest.wait === WORK ? 1 : 0.3) * (pale ? 0.2 : 1);
      covered[name] = (covered[name] || 0) + (right - left) * weight;
      continue;
    }
    const x = Math.max(left, gutter), end = Math.min(right, width);
    context.globalAlpha = (pale ? 0.2 : 1) * (rest.number > 1 ? 0.35 + 0.65 * rest.busy / rest.cycles : 1);
    if (rest.wait !== WORK) {
      context.fillStyle = hatch(context, name);
      context.fillRect(x, top, end - x, tall);
      continue;
    }
    context.fillStyle = colours[name];
    // A gap of a pixel between neighbours that are long enough to spare it.
    const wide = end - x - (end - x > 4 ? 1 : 0);
    if (wide > 6) {
      context.beginPath();
      context.roundRect(x, top, wide, tall, 2.5);
      context.fill();
    } else {
      context.fillRect(x, top, wide, tall);
    }
    if (wide > 30 && tall >= 11 && track.pipe !== SCALAR) drawName(context, track, i, x, top, wide, tall);
  }
  flush();
  // Results that come after the pipe was free again.
  context.globalAlpha = 0.75;
  for (let i = first; i < track.length && track.begin[i] < view.to; ++i) {
    const left = gutter + (track.end[i] - view.from) * scale;
    const next = i + 1 < track.length ? track.begin[i + 1] : Infinity;
    const right = gutter + (Math.min(track.ready[i], next) - view.from) * scale;
    if (right - left < 3 || left < gutter) continue;
    context.fillStyle = colours[track.colour[i]];
    context.fillRect(left, top + tall / 2 - 0.75, right - left, 1.5);
    if (track.ready[i] < next) context.fillRect(right - 1, top + tall / 2 - 3, 1.5, 6);
  }
  context.globalAlpha = 1;
}

function siteOf(track, i) {
  const [name, file, line, count, busy, waited, bytes] =
      launches[track.launch[i]].sites[track.rest[i].site] || ["", "", 0, 0, 0, 0, 0];
  return { name, file, line, count, busy, waited, bytes };
}

function drawName(context, track, i, x, top, wide, tall) {
  const { name, line } = siteOf(track, i);
  const short = name.replace(/^__(bang_)?/, "");
  context.font = font(Math.min(12, tall - 2), 550);
  context.fillStyle = track.pipe === COMPUTE ? "#2e1c00" : "#fff";
  context.textBaseline = "middle";
  for (const text of [`${short}  :${line}`, short, `:${line}`]) {
    if (context.measureText(text).width > wide - 10) continue;
    context.fillText(text, x + 5, top + tall / 2 + 0.5);
    return;
  }
}

function drawLabels(context, width, height) {
  context.fillStyle = colours.panel;
  context.fillRect(0, RULER, gutter, height - RULER);
  context.textBaseline = "middle";
  const narrow = gutter < 100;
  for (const { unit, tracks, y, height: tall } of layout.units) {
    const top = y - view.top + RULER;
    if (top > height || top + tall < RULER) continue;
    context.textAlign = "left";
    context.fillStyle = colours.text;
    context.font = font(narrow ? 11 : 12, 600);
    // The name stays in sight while any of its rows is.
    const middle = Math.min(Math.max(top + Math.min(tall / 2, 26), RULER + 9), top + tall - 8);
    const twoLines = !narrow && tall >= 30;
    context.fillText(narrow ? unit.short : unit.name, narrow ? 8 : 12, twoLines ? middle - 7 : middle);
    if (twoLines || (!narrow && tall < 30)) {
      context.fillStyle = colours.muted;
      context.font = font(10.5);
      context.fillText(twoLines ? `cluster ${unit.cluster}` : `· ${unit.cluster}`,
                       twoLines ? 12 : 52, twoLines ? middle + 7 : middle);
    }
    if (rowHeight < 10) continue;
    context.textAlign = "right";
    context.font = font(Math.min(11, rowHeight - 1));
    context.fillStyle = colours.muted;
    for (const [i, track] of tracks.entries()) {
      const name = DATA.pipes[track.pipe];
      context.fillText(narrow ? name[0].toUpperCase() : name, gutter - 8, top + (i + 0.5) * rowHeight);
    }
  }
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, gutter, RULER);
  context.strokeStyle = colours.line;
  context.beginPath();
  context.moveTo(gutter - 0.5, 0);
  context.lineTo(gutter - 0.5, height);
  context.moveTo(0, RULER - 0.5);
  context.lineTo(width, RULER - 0.5);
  context.stroke();
  context.textAlign = "left";
}

function outline(context, at, width, strong) {
  if (!at) return;
  const row = layout.tracks.find(({ track }) => track === at.track);
  if (!row) return;
  const x = toX(at.track.begin[at.i], width), end = toX(at.track.end[at.i], width);
  context.strokeStyle = strong ? colours.text : colours.muted;
  context.lineWidth = strong ? 2 : 1.5;
  context.beginPath();
  context.roundRect(x - 1, row.y - view.top + RULER, Math.max(end - x, 2) + 1, rowHeight, 3.5);
  context.stroke();
  context.lineWidth = 1;
}

function drawRows() {
  const { context, width, height } = prepare(rows);
  arrange();
  view.top = Math.max(0, Math.min(view.top, layout.height - (height - RULER)));
  for (const { y, height: tall } of layout.units) {
    context.fillStyle = colours.band;
    context.fillRect(gutter, y - view.top + RULER - GAP / 2 + 2, width - gutter, tall + GAP - 4);
  }
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, height);
  context.clip();
  drawRuler(context, width, height);
  context.beginPath();
  context.rect(gutter, RULER, width - gutter, height - RULER);
  context.clip();
  for (const row of layout.tracks) {
    const top = row.y - view.top + RULER;
    if (top + rowHeight >= RULER && top <= height) drawTrack(context, row, width);
  }
  // Where launches begin.
  context.fillStyle = colours.muted;
  for (const launch of launches) {
    if (launch.start > 0) context.fillRect(Math.round(toX(launch.start, width)), RULER, 1, height);
  }
  outline(context, view.pointed, width, false);
  outline(context, view.chosen, width, true);
  context.restore();
  drawLabels(context, width, height);
  // How far down.
  if (layout.height > height - RULER) {
    const part = (height - RULER) / layout.height;
    context.fillStyle = colours.muted;
    context.globalAlpha = 0.45;
    context.beginPath();
    context.roundRect(width - 6, RULER + view.top * part + 2, 4, (height - RULER) * part - 4, 2);
    context.fill();
    context.globalAlpha = 1;
  }
}
