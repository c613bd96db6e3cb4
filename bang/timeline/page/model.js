// What timeline/page.cc wrote, as arrays that can be searched. Times of the whole page are
// microseconds from the program's first launch.
const DATA = JSON.parse(document.getElementById("data").textContent);
const NUMBERS_PER_SPAN = 11;
const SCALAR = 0, IO = 1, MOVE = 2, COMPUTE = 3;
const BARRIER = 3, QUEUE = 4, DEPENDENCE = 5, WORK = DATA.waits.length;
const SPACES = DATA.spaces.length, GDRAM = 4, LDRAM = 3;

// A pipe of a core over all launches; spans lie one behind another.
class Track {
  constructor(unit, pipe, parts) {
    this.unit = unit;
    this.pipe = pipe;
    const count = parts.reduce((sum, part) => sum + part.spans.length / NUMBERS_PER_SPAN, 0);
    this.begin = new Float64Array(count);
    this.end = new Float64Array(count);
    this.ready = new Float64Array(count);
    this.rest = new Array(count);
    this.launch = new Uint32Array(count);
    this.colour = new Array(count);
    let i = 0;
    for (const { launch, spans } of parts) {
      let cycle = 0;
      for (let at = 0; at < spans.length; at += NUMBERS_PER_SPAN, ++i) {
        const [gap, length, tail, wait, site, task, bytes, alone, route, number, busy] =
            spans.slice(at, at + NUMBERS_PER_SPAN);
        const begin = cycle + gap;
        cycle = begin + length;
        this.begin[i] = launch.start + begin * launch.usPerCycle;
        this.end[i] = launch.start + cycle * launch.usPerCycle;
        this.ready[i] = launch.start + (cycle + tail) * launch.usPerCycle;
        this.launch[i] = launch.index;
        this.rest[i] = { wait, site, task, bytes, alone, route, number, busy, begin, cycles: length, tail };
        this.colour[i] = colourName(pipe, wait, route);
      }
    }
  }
  get length() { return this.begin.length; }
  // The first span that ends after `time`.
  firstAfter(time) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }
  at(time) {
    const i = this.firstAfter(time);
    return i < this.length && this.begin[i] <= time ? i : -1;
  }
}

// Waits have the colour of what is waited for; IO has one for each way.
function colourName(pipe, wait, route) {
  if (wait !== WORK) return ["load", "move", "compute", "barrier", "queue", "queue", "queue"][wait];
  if (pipe !== IO) return ["scalar", "", "move", "compute"][pipe];
  const to = route ? (route - 1) % SPACES : 0;
  return to === GDRAM || to === LDRAM ? "store" : "load";
}

const launches = [];
{
  let start = 0;
  for (const [index, launch] of DATA.launches.entries()) {
    launch.index = index;
    launch.usPerCycle = 1e3 / launch.khz;
    launch.start = start;
    launch.us = launch.cycles * launch.usPerCycle;
    start = launch.end = start + launch.us;
    launches.push(launch);
  }
}
const programEnd = launches.length ? launches[launches.length - 1].end : 1;

// The units that did something, with their pipes; and of each launch those that did something in it.
const units = [];
{
  const parts = new Map();
  for (const launch of launches) {
    launch.units = new Set();
    launch.pipes = new Set([SCALAR]);
    for (const { unit, pipe, spans } of launch.tracks) {
      if (!parts.has(unit)) parts.set(unit, DATA.pipes.map(() => []));
      parts.get(unit)[pipe].push({ launch, spans });
      launch.units.add(unit);
      launch.pipes.add(pipe);
    }
    delete launch.tracks;
  }
  for (const unit of [...parts.keys()].sort((a, b) => a - b)) {
    const cluster = Math.floor(unit / DATA.unitsPerCluster), core = unit % DATA.unitsPerCluster;
    const mpu = core === DATA.unitsPerCluster - 1;
    units.push({
      unit, cluster, mpu,
      name: mpu ? "MPU" : `core ${core}`,
      short: `${cluster}.${mpu ? "M" : core}`,
      tracks: DATA.pipes.map((_, pipe) => pipe).filter((pipe) => !mpu || pipe !== COMPUTE)
          .map((pipe) => new Track(unit, pipe, parts.get(unit)[pipe])),
    });
  }
}

// How busy all cores are, over `bins` parts of the program: [scalar, IO, Move, Compute] per part.
function busyness(bins) {
  const busy = DATA.pipes.map(() => new Float64Array(bins));
  const width = programEnd / bins || 1;
  let cores = 0;
  for (const unit of units) {
    if (unit.mpu) continue;
    ++cores;
    for (const track of unit.tracks) {
      const sums = busy[track.pipe];
      for (let i = 0; i < track.length; ++i) {
        const { wait, busy: covered, cycles } = track.rest[i];
        if (wait !== WORK || cycles === 0) continue;
        const share = covered / cycles;
        const first = Math.min(bins - 1, Math.floor(track.begin[i] / width));
        const last = Math.min(bins - 1, Math.floor(track.end[i] / width));
        for (let bin = first; bin <= last; ++bin) {
          const begin = Math.max(track.begin[i], bin * width);
          const end = Math.min(track.end[i], (bin + 1) * width);
          if (end > begin) sums[bin] += (end - begin) * share;
        }
      }
    }
  }
  for (const sums of busy) for (let i = 0; i < bins; ++i) sums[i] /= width * Math.max(cores, 1);
  return busy;
}

// Words for numbers.
const number = (value, digits = 3) => {
  const decimals = value === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 6));
};
function timeText(us, digits = 4) {
  if (us === 0) return "0";
  const size = Math.abs(us);
  if (size < 1) return `${number(us * 1e3, Math.min(digits, 3))} ns`;
  if (size < 1e3) return `${number(us, digits)} µs`;
  if (size < 1e6) return `${number(us / 1e3, digits)} ms`;
  return `${number(us / 1e6, digits)} s`;
}
function scaled(value, units) {
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
  return `${unit || value % 1 ? number(value) : value} ${units[unit]}`;
}
const bytesText = (bytes) => scaled(bytes, ["B", "kB", "MB", "GB", "TB"]);
const grouped = (value) => value.toLocaleString("en-US");
const percent = (share) => `${share > 0 && share < 0.0995 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;
const baseName = (path) => path.split("/").pop();
