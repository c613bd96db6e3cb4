// The words around the picture: figures of the launch, what a span is, lines of the source.
const byId = (id) => document.getElementById(id);

// An element with text, never markup: names come from the program.
function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function figure(name, value, share, colour) {
  const card = element("div", "figure", element("span", "", name), element("b", "", value));
  if (share !== undefined) {
    const bar = element("i");
    bar.style.setProperty("--share", `${Math.min(100, share * 100)}%`);
    bar.style.setProperty("--colour", `var(--${colour})`);
    card.append(bar);
  }
  return card;
}

function showLaunch() {
  const launch = launches[current];
  byId("empty").hidden = units.length > 0;
  if (!launch) return;
  document.title = `${launch.kernel}: timeline`;
  byId("kernel").textContent = launch.kernel;
  byId("subtitle").textContent =
      `${launch.tasks} on ${launch.card} (simulated) · ${baseName(launch.file)}:${launch.line}`;
  byId("launch").value = String(current);
  const wait = launch.waits.slice(0, QUEUE + 1).reduce((sum, share) => sum + share, 0);
  byId("figures").replaceChildren(
      figure("time", timeText(launch.us), undefined),
      figure("cycles", grouped(launch.cycles), undefined),
      figure("scalar busy", percent(launch.busy[SCALAR]), launch.busy[SCALAR], "scalar"),
      figure("IO busy", percent(launch.busy[IO]), launch.busy[IO], "load"),
      figure("Move busy", percent(launch.busy[MOVE]), launch.busy[MOVE], "move"),
      figure("Compute busy", percent(launch.busy[COMPUTE]), launch.busy[COMPUTE], "compute"),
      figure("cores wait", percent(wait), wait, "barrier"),
      figure("IO efficiency", percent(launch.io), launch.io, "load"),
      figure("compute efficiency", percent(launch.compute), launch.compute, "compute"),
      figure("GDRAM read", bytesText(launch.read)),
      figure("GDRAM written", bytesText(launch.written)),
      figure("cores used", `${launch.coresUsed} of ${launch.cores}`, launch.coresUsed / launch.cores, "accent"));
  byId("bottleneck").replaceChildren(element("b", "", "Bottleneck: "), launch.bottleneck + ".");
  if (launch.thinnedFrom >= 0) {
    byId("bottleneck").append(` From ${timeText(launch.thinnedFrom * launch.usPerCycle)} on ` +
                              "there are too many spans: neighbours are drawn as one.");
  }
  showSites();
}

function facts(track, i) {
  const rest = track.rest[i], launch = launches[track.launch[i]];
  const unit = units.find((u) => u.unit === track.unit);
  const list = [];
  const rate = rest.bytes / (rest.cycles * launch.usPerCycle) / 1e3;  // GB/s
  if (rest.route) {
    list.push(["copy", `${DATA.spaces[Math.floor((rest.route - 1) / SPACES)]} → ${DATA.spaces[(rest.route - 1) % SPACES]}`]);
  }
  if (rest.bytes && rest.number === 1) list.push([rest.route ? "moves" : "vector", `${bytesText(rest.bytes)}${rest.route ? ` at ${number(rate)} GB/s` : ""}`]);
  list.push(["takes", `${timeText(rest.cycles * launch.usPerCycle)} · ${grouped(rest.cycles)} cycles`]);
  if (rest.alone && rest.number === 1 && rest.cycles > rest.alone) {
    list.push(["alone", `${grouped(rest.alone)} cycles: others slow it down`]);
  }
  if (rest.tail) list.push(["result", `${grouped(rest.tail)} cycles later`]);
  list.push(["begins", `${timeText(track.begin[i] - launch.start, 5)} · cycle ${grouped(rest.begin)}`]);
  list.push(["on", `${DATA.pipes[track.pipe]} of ${unit.name}, cluster ${unit.cluster}, task ${rest.task}`]);
  if (rest.number > 1) list.push(["spans", `${grouped(rest.number)}, ${percent(rest.busy / rest.cycles)} of the time`]);
  return list;
}

// What a span is; `full`: with all facts.
function describe({ track, i }, full) {
  const rest = track.rest[i], { name, file, line } = siteOf(track, i);
  const title = rest.wait !== WORK ? DATA.waits[rest.wait] : track.pipe === SCALAR ? "scalar code" : name;
  const heading = element("div", "name", title + (rest.number > 1 ? ` and ${grouped(rest.number - 1)} more` : ""));
  heading.style.setProperty("--colour", `var(--${track.colour[i]})`);
  const parts = [heading];
  if (file) {
    const builtin = (rest.wait !== WORK || track.pipe === SCALAR) && name ? `${name}, ` : "";
    parts.push(element("div", "where", `${builtin}${full ? file : baseName(file)}:${line}`));
  }
  const list = element("dl", "facts");
  for (const [key, value] of facts(track, i)) list.append(element("dt", "", key), element("dd", "", value));
  parts.push(list);
  return parts;
}

function showTip(x, y) {
  const tip = byId("tip");
  tip.hidden = !view.pointed;
  if (!view.pointed) return;
  tip.replaceChildren(...describe(view.pointed, false));
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
  const top = y + 16 + height > innerHeight ? y - 16 - height : y + 16;
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

let linesWanted = false;
function showPanel() {
  byId("panel").hidden = !linesWanted && !view.chosen;
  byId("lines").setAttribute("aria-pressed", String(linesWanted));
  byId("sites").hidden = !linesWanted;
  byId("details").replaceChildren(...(view.chosen ? describe(view.chosen, true) : []));
  redraw();
}

// Where the cores' time went, by line.
function showSites() {
  const launch = launches[current], list = byId("sites");
  const all = Math.max(launch.unitCycles, 1);
  const sites = launch.sites.map(([name, file, line, count, busy, waited, bytes], site) =>
      ({ name, file, line, count, busy, waited, bytes, site }))
      .filter((site) => site.busy + site.waited > 0)
      .sort((a, b) => Math.max(b.busy, b.waited) - Math.max(a.busy, a.waited));
  const most = sites.length ? Math.max(sites[0].busy, sites[0].waited) : 1;
  list.replaceChildren(element("h2", "", "Where the cores' time went"));
  for (const { name, file, line, count, busy, waited, bytes, site } of sites.slice(0, 60)) {
    const colour = /memcpy|gather|scatter|load|store/.test(name) ? "load" : name ? "compute" : "scalar";
    const bar = element("i", "", element("u"), element("s"));
    bar.children[0].style.width = `${busy / most * 100}%`;
    bar.children[0].style.setProperty("--colour", `var(--${colour})`);
    bar.children[1].style.width = `${waited / most * 100}%`;
    bar.children[1].hidden = waited === 0;
    const row = element("button", "site",
        element("div", "top", element("span", "", name || "scalar code"),
                element("span", "", busy ? `${percent(busy / all)} busy` : "")),
        element("small", "", element("span", "", file ? `${baseName(file)}:${line}` : "between the built-ins"),
                element("span", "", [waited > all / 2000 ? `${percent(waited / all)} waiting` : "",
                                     count > 1 ? `${grouped(count)} times` : "",
                                     bytes ? bytesText(bytes) : ""].filter(Boolean).join(" · "))), bar);
    row.addEventListener("click", () => {
      const same = view.site && view.site.site === site && view.site.launch === current;
      view.site = same ? null : { site, launch: current };
      for (const other of list.querySelectorAll(".site")) other.setAttribute("aria-pressed", String(other === row && !same));
      redraw();
    });
    list.append(row);
  }
}

function showLegend() {
  const entries = [["scalar", "scalar"], ["load", "IO: load"], ["store", "IO: store"], ["move", "Move"],
                   ["compute", "Compute"], ["load", "waits for IO", "wait"], ["move", "waits for Move", "wait"], ["compute", "waits for Compute", "wait"],
                   ["barrier", "waits at a barrier", "wait"], ["queue", "queue full, or a pipe waits", "wait"],
                   ["load", "until the result is there", "tail"]];
  for (const [colour, name, kind] of entries) {
    const entry = element("span", kind || "", name);
    entry.style.setProperty("--colour", `var(--${colour})`);
    byId("legend").append(entry);
  }
}
