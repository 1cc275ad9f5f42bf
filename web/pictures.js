/* Pictures of a run: latencies, the timeline, and what the history looks like.  All are
 * drawn from h.lanes, every transaction's time, outcome and node, see lanes.h. */
const Pictures = (() => {
const COMMITTED = 0, ABORTED = 1, UNKNOWN = 2, READS = 4, WRITES = 8, NO_TIME = 16;
const OUTCOME = ["committed", "aborted", "outcome unknown"];
const LEFT = 92, RIGHT = 8;

let data = null; /* the history that is drawn, decoded */
let about = null; /* what the report says of it: h, events, bands, onpick */
let view = null; /* of the timeline: from and to in units, lane on top, lanes in order */
let lit = new Set(), chosen = -1;

/* ---- from the page to arrays ---- */

async function inflate(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const out = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(out).arrayBuffer());
}

async function decode(lanes) {
  const raw = await inflate(lanes.data), n = lanes.sessions.reduce((p, q) => p + q, 0);
  const at = [0];
  for (const b of lanes.bytes) at.push(at[at.length - 1] + b);
  const number = c => {
    let x = 0, by = 1, i = at[c], b;
    do { b = raw[i++]; x += (b & 127) * by; by *= 128; } while (b & 128);
    at[c] = i;
    return x;
  };
  const signed = c => { const x = number(c); return x % 2 ? -(x + 1) / 2 : x / 2; };
  const d = {n, lanes, unit: lanes.unit, start: lanes.start, begin: new Float64Array(n), end: new Float64Array(n), flags: new Uint8Array(n),
    node: new Uint8Array(n), name: lanes.names === "numbers" ? new Float64Array(n) : null, first: new Uint32Array(lanes.sessions.length + 1), session: new Uint32Array(n), span: 1};
  let t = 0;
  lanes.sessions.forEach((count, s) => {
    let last = 0, name = 0;
    for (let i = 0; i < count; i++, t++) {
      const begin = last + signed(0), took = number(1);
      d.begin[t] = begin;
      d.end[t] = took ? begin + took - 1 : -1;
      last = took ? d.end[t] : begin;
      d.flags[t] = number(2);
      d.node[t] = number(3);
      d.session[t] = s;
      if (d.name) d.name[t] = name += signed(4);
      if (last > d.span) d.span = last;
    }
    d.first[s + 1] = t;
  });
  return d;
}

/* ---- words ---- */

const sessionName = s => data.lanes.called.length ? data.lanes.called[s] : String(s + 1);
const nameOf = t => data.lanes.names === "count" ? "t" + (t + 1) : data.name ? "t" + data.name[t] : "transaction " + (t - data.first[data.session[t]] + 1);
const nodeOf = t => data.node[t] ? data.lanes.nodes[data.node[t] - 1] : "";
const clock = u => data.lanes.order ? "event " + count(Math.round(u)) : ((data.start + u * data.unit) / 1e9).toFixed(6) + " s";
const length = u => data.lanes.order ? count(Math.round(u)) + " events" : seconds(u * data.unit / 1e9);
const kindOf = t => { const f = data.flags[t] & (READS | WRITES); return f === READS ? "only reads" : f === WRITES ? "only writes" : f ? "reads and writes" : "no operations"; };

function tell(t) {
  return [el("b", {}, nameOf(t)), ", session " + sessionName(data.session[t]) + (nodeOf(t) ? " on " + nodeOf(t) : "") + ": " + OUTCOME[data.flags[t] & 3] + ", " + kindOf(t),
    el("div", {}, "from " + clock(data.begin[t]) + (data.end[t] < 0 ? ", no end" : ", took " + length(data.end[t] - data.begin[t])))];
}

/* ---- canvases ---- */

const paint = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const colours = () => ({ink: paint("ink"), soft: paint("soft"), line: paint("line"), rail: paint("rail"), card: paint("card"), bad: paint("bad"), read: paint("wr"), write: paint("ww"), aborted: paint("rw"), unknown: paint("co"), focus: paint("focus")});
const colourOf = (c, f) => (f & 3) === ABORTED ? c.aborted : (f & 3) === UNKNOWN ? c.unknown : (f & WRITES) ? c.write : c.read;

function sheet(canvas, height) {
  const W = Math.max(280, canvas.parentNode.clientWidth), k = devicePixelRatio || 1;
  canvas.width = Math.round(W * k);
  canvas.height = Math.round(height * k);
  canvas.style.width = W + "px";
  canvas.style.height = height + "px";
  const g = canvas.getContext("2d");
  g.setTransform(k, 0, 0, k, 0, 0);
  g.font = "11.5px system-ui, sans-serif";
  return {g, W, H: height, c: colours()};
}

/* Round steps for an axis from a to b, about n of them. */
function ticks(a, b, n) {
  const raw = (b - a) / n, p = Math.pow(10, Math.floor(Math.log10(raw))), step = [1, 2, 5, 10].map(x => x * p).find(x => x >= raw);
  const out = [];
  for (let v = Math.ceil(a / step) * step; v <= b + step / 1e6; v += step) out.push(v);
  return out.length < 2 && n < 64 ? ticks(a, b, 2 * n) : out;
}

function timeAxis(s, from, to, foot) {
  const {g, W, c} = s, x = u => LEFT + (W - LEFT - RIGHT) * (u - from) / (to - from);
  g.fillStyle = c.soft;
  g.textAlign = "center";
  const scale = data.lanes.order ? 1 : data.unit / 1e9, zero = data.lanes.order ? 0 : data.start / 1e9;
  const all = ticks(zero + from * scale, zero + to * scale, W < 600 ? 4 : 8);
  const digits = data.lanes.order || all.length < 2 ? 0 : Math.min(9, Math.max(0, Math.ceil(-Math.log10(all[1] - all[0]) - 1e-9)));
  for (const v of all) {
    const px = x((v - zero) / scale);
    if (px < LEFT - 1 || px > W - RIGHT + 1) continue;
    g.fillText(data.lanes.order ? count(Math.round(v)) : v.toFixed(digits) + " s", Math.min(px, W - 24), foot + 15);
    g.strokeStyle = c.line;
    g.beginPath(); g.moveTo(px, foot); g.lineTo(px, foot + 4); g.stroke();
  }
  return x;
}

const inUnits = ns => (ns - data.start) / data.unit;

/* Faults as bands, anomalies as ticks above. */
function drawFaults(s, x, top, foot) {
  const {g, c, W} = s, clip = p => Math.min(W - RIGHT, Math.max(LEFT, p));
  g.save();
  g.globalAlpha = 0.13;
  g.fillStyle = c.bad;
  for (const [from, to] of about.bands) {
    const a = clip(x(inUnits(from))), b = clip(x(inUnits(to)));
    if (b > a) g.fillRect(a, top, Math.max(1, b - a), foot - top);
  }
  g.restore();
}

function drawMarksAbove(s, x, top) {
  const {g, c, W} = s;
  (about.h.anomalies || []).forEach((a, i) => {
    if (!a.span) return;
    const px = x((inUnits(a.span[0]) + inUnits(a.span[1])) / 2);
    if (px < LEFT || px > W - RIGHT) return;
    g.fillStyle = a.beyond ? c.soft : c.bad;
    g.beginPath();
    g.moveTo(px - 4, top - 8); g.lineTo(px + 4, top - 8); g.lineTo(px, top - 1);
    g.fill();
    if (i !== about.anomaly) return;
    g.strokeStyle = c.bad;
    g.globalAlpha = 0.6;
    g.beginPath(); g.moveTo(px, top); g.lineTo(px, s.H - 22); g.stroke();
    g.globalAlpha = 1;
  });
}

/* ---- latencies ---- */

const QUANTILES = [[0.5, "middle"], [0.95, "95 %"], [0.99, "99 %"]];
let points = [], curves = null;

/* For each slice of time the quantiles of what committed, by a sample when it is much. */
function quantiles() {
  const bins = Math.max(1, Math.min(100, Math.floor(data.n / 20))), step = Math.max(1, Math.floor(data.n / 300000)), all = Array.from({length: bins}, () => []);
  for (let t = 0; t < data.n; t += step)
    if ((data.flags[t] & 3) === COMMITTED && data.end[t] >= 0)
      all[Math.min(bins - 1, Math.floor(data.end[t] / data.span * bins))].push(data.end[t] - data.begin[t]);
  return all.map(list => { list.sort((p, q) => p - q); return list.length ? QUANTILES.map(([q]) => list[Math.min(list.length - 1, Math.floor(q * list.length))]) : null; });
}

/* Who gets a point: all when they are few; else a share of each outcome and kind. */
function choosePoints() {
  const groups = new Map(), most = 6000;
  for (let t = 0; t < data.n; t++) if (data.end[t] >= 0 && !(data.flags[t] & NO_TIME)) {
    const key = (data.flags[t] & 3) * 2 + (data.flags[t] & WRITES ? 1 : 0);
    groups.set(key, (groups.get(key) || 0) + 1);
  }
  const seen = new Map(), out = [];
  for (let t = 0; t < data.n; t++) if (data.end[t] >= 0 && !(data.flags[t] & NO_TIME)) {
    const key = (data.flags[t] & 3) * 2 + (data.flags[t] & WRITES ? 1 : 0), i = seen.get(key) || 0;
    seen.set(key, i + 1);
    if (i % Math.max(1, Math.ceil(groups.get(key) / most)) === 0) out.push(t);
  }
  return out;
}

function drawLatency() {
  const canvas = $("latency");
  if (!canvas) return;
  const s = sheet(canvas, 240), {g, W, H, c} = s, top = 16, foot = H - 22;
  const took = t => Math.max(0.5, data.end[t] - data.begin[t]);
  let low = Infinity, high = 1;
  for (const t of points) { low = Math.min(low, took(t)); high = Math.max(high, took(t)); }
  const a = Math.log10(Math.min(low, high / 1.01)), b = Math.log10(high), y = u => foot - (foot - top) * (Math.log10(Math.max(0.5, u)) - a) / Math.max(0.01, b - a);
  const x = timeAxis(s, 0, data.span, foot);
  drawFaults(s, x, top, foot);
  g.textAlign = "right";
  for (let e = Math.ceil(a + Math.log10(data.unit)); e <= b + Math.log10(data.unit); e++) {
    const u = Math.pow(10, e) / data.unit;
    g.strokeStyle = c.line;
    g.beginPath(); g.moveTo(LEFT, y(u)); g.lineTo(W - RIGHT, y(u)); g.stroke();
    g.fillStyle = c.soft;
    g.fillText(seconds(Math.pow(10, e) / 1e9), LEFT - 8, y(u) + 4);
  }
  g.globalAlpha = points.length > 4000 ? 0.35 : 0.6;
  for (const t of points) {
    g.fillStyle = colourOf(c, data.flags[t]);
    g.fillRect(x(data.end[t]) - 1, y(took(t)) - 1, 2.2, 2.2);
  }
  g.globalAlpha = 1;
  QUANTILES.forEach((q, i) => {
    g.strokeStyle = c.ink;
    g.lineWidth = i ? 1 : 1.8;
    g.setLineDash(i === 2 ? [2, 3] : i ? [6, 3] : []);
    g.beginPath();
    let on = false;
    curves.forEach((v, k) => {
      if (!v) { on = false; return; }
      const px = x(data.span * (k + 0.5) / curves.length);
      if (on) g.lineTo(px, y(v[i])); else g.moveTo(px, y(v[i]));
      on = true;
    });
    g.stroke();
  });
  g.setLineDash([]);
  drawMarksAbove(s, x, top);
  canvas.hit = (px, py) => {
    let best = -1, near = 80;
    for (const t of points) {
      const dx = x(data.end[t]) - px, dy = y(took(t)) - py, r = dx * dx + dy * dy;
      if (r < near) { near = r; best = t; }
    }
    return best;
  };
}

/* ---- the timeline ---- */

const LANE_TOP = 14, MOST_HIGH = 440;

function laneHeight() { return Math.max(6, Math.min(24, (MOST_HIGH - LANE_TOP - 24) / view.order.length)); }
function lanesShown() { return Math.min(view.order.length, Math.floor((MOST_HIGH - LANE_TOP - 24) / laneHeight())); }

/* The first transaction of a session that is not over before u.  Begins ascend within a
 * session; where clocks say otherwise something may be drawn late, and nothing breaks. */
function firstFrom(s, u) {
  let low = data.first[s], high = data.first[s + 1];
  while (low < high) {
    const m = (low + high) >> 1;
    if (Math.max(data.begin[m], data.end[m]) < u) low = m + 1; else high = m;
  }
  return low;
}

function drawBars(s, x, from, to, y, h) {
  const {g, c} = s;
  for (let t = from; t < to; t++) {
    if (data.flags[t] & NO_TIME) continue;
    const open = data.end[t] < 0, px = x(data.begin[t]), w = Math.max(1.5, (open ? Math.min(s.W - RIGHT, px + 14) : x(data.end[t])) - px);
    const dim = lit.size && !lit.has(t);
    g.globalAlpha = dim ? 0.3 : 0.85;
    g.fillStyle = colourOf(c, data.flags[t]);
    g.fillRect(px, y + 1, w > 4 ? w - 1 : w, h - 2);
    g.globalAlpha = 1;
    if (lit.has(t) || t === chosen) {
      g.strokeStyle = t === chosen ? c.focus : c.ink;
      g.lineWidth = 2;
      g.strokeRect(px, y + 1, Math.max(3, w), h - 2);
    }
    const label = nameOf(t) + (nodeOf(t) ? " " + nodeOf(t) : ""), room = Math.min(px + w, s.W - RIGHT) - Math.max(px, LEFT);
    if (h >= 12 && room > label.length * 6.6 + 8) {
      g.fillStyle = dim ? c.ink : c.card;
      g.textAlign = "left";
      g.fillText(label, Math.max(px, LEFT) + 4, y + h / 2 + 4);
    } else if (lit.has(t) && h >= 12) {
      g.fillStyle = c.ink;
      g.textAlign = "left";
      g.fillText(label, px + Math.max(3, w) + 4, y + h / 2 + 4);
    }
  }
}

/* Too many to tell apart: how much of each pixel was busy, and what went wrong in it. */
function drawBinned(s, x, from, to, y, h) {
  const {g, c, W} = s, n = W - LEFT - RIGHT, busy = new Float32Array(n + 1), bad = new Float32Array(n + 1), open = new Float32Array(n + 1), writes = new Float32Array(n + 1), all = new Float32Array(n + 1);
  for (let t = from; t < to; t++) {
    if (data.flags[t] & NO_TIME) continue;
    const a = Math.max(0, Math.min(n, x(data.begin[t]) - LEFT)), b = Math.max(a, Math.min(n, data.end[t] < 0 ? a : x(data.end[t]) - LEFT));
    for (let p = Math.floor(a); p <= b && p <= n; p++) busy[p] += Math.min(b, p + 1) - Math.max(a, p);
    const p = Math.floor(b);
    all[p]++;
    if ((data.flags[t] & 3) === ABORTED) bad[p]++;
    else if ((data.flags[t] & 3) === UNKNOWN) open[p]++;
    else if (data.flags[t] & WRITES) writes[p]++;
  }
  for (let p = 0; p < n; p++) {
    if (!busy[p] && !all[p]) continue;
    g.globalAlpha = (lit.size ? 0.3 : 1) * (0.25 + 0.6 * Math.min(1, busy[p]));
    g.fillStyle = writes[p] * 2 >= all[p] - bad[p] - open[p] ? c.write : c.read;
    g.fillRect(LEFT + p, y + 1, 1, h - 2);
    let up = y + h - 1;
    for (const [part, colour] of [[bad[p], c.aborted], [open[p], c.unknown]]) {
      if (!part) continue;
      const high = Math.max(1.5, (h - 2) * part / all[p]);
      g.globalAlpha = 0.9;
      g.fillStyle = colour;
      g.fillRect(LEFT + p, up - high, 1, high);
      up -= high;
    }
  }
  g.globalAlpha = 1;
}

function drawTimeline() {
  const canvas = $("timeline");
  if (!canvas) return;
  const h = laneHeight(), shown = lanesShown(), s = sheet(canvas, LANE_TOP + shown * h + 24), {g, W, c} = s, foot = LANE_TOP + shown * h;
  const x = timeAxis(s, view.from, view.to, foot);
  let drawn = 0, most = 0;
  const seen = Array.from({length: shown}, (_, i) => {
    const lane = view.order[view.top + i], from = firstFrom(lane, view.from);
    let to = from;
    while (to < data.first[lane + 1] && data.begin[to] <= view.to) to++;
    drawn += to - from;
    most = Math.max(most, to - from);
    return [lane, from, to];
  });
  const binned = most > (W - LEFT - RIGHT) / 3;
  drawFaults(s, x, LANE_TOP, foot);
  for (let i = 0; i < shown; i++) {
    const [lane, from, to] = seen[i], y = LANE_TOP + i * h;
    if (i % 2) { g.globalAlpha = 0.5; g.fillStyle = c.rail; g.fillRect(LEFT, y, W - LEFT - RIGHT, h); g.globalAlpha = 1; }
    g.save();
    g.beginPath(); g.rect(LEFT, y, W - LEFT - RIGHT, h); g.clip();
    if (binned) drawBinned(s, x, from, to, y, h); else drawBars(s, x, from, to, y, h);
    if (binned) for (const t of lit) if (data.session[t] === lane) drawBars(s, x, t, t + 1, y, h);
    g.restore();
    if (h >= 11 || i % Math.ceil(12 / h) === 0) {
      g.fillStyle = c.soft;
      g.textAlign = "right";
      g.fillText(fitText(g, sessionLabel(lane), LEFT - 12), LEFT - 8, y + h / 2 + 4);
    }
  }
  drawMarksAbove(s, x, LANE_TOP);
  canvas.hit = (px, py) => hitTimeline(x, px, py, h);
  const words = "From " + clock(Math.max(0, view.from)) + " to " + clock(Math.min(data.span, view.to)) + ": " + count(drawn) + " transactions" + (binned ? ", drawn together where they are too close" : "") +
    (shown < view.order.length ? "; sessions " + (view.top + 1) + " to " + (view.top + shown) + " of " + count(view.order.length) : "") + ".";
  $("timeline-say").textContent = words;
}

function sessionLabel(s) {
  const t = data.first[s];
  return sessionName(s) + (data.lanes.nodes.length && t < data.first[s + 1] && data.node[t] ? " " + nodeOf(t) : "");
}

function fitText(g, text, wide) {
  while (text.length > 2 && g.measureText(text).width > wide) text = text.slice(0, -2) + "…";
  return text;
}

function hitTimeline(x, px, py, h) {
  const lane = view.order[view.top + Math.floor((py - LANE_TOP) / h)];
  if (lane === undefined || py < LANE_TOP || px < LEFT) return -1;
  let best = -1, near = 4;
  for (let t = Math.max(data.first[lane], firstFrom(lane, view.from) - 1); t < data.first[lane + 1] && data.begin[t] <= view.to; t++) {
    if (data.flags[t] & NO_TIME) continue;
    const a = x(data.begin[t]), b = data.end[t] < 0 ? a + 14 : x(data.end[t]), d = px < a ? a - px : px > b ? px - b : 0;
    if (d < near) { near = d; best = t; }
  }
  return best;
}

let frame = 0, picking = 0;

/* Pictures that show an older choice are drawn again when they are seen. */
let stale = new Set();
function drawStale() {
  cancelAnimationFrame(picking);
  if (stale.size) picking = requestAnimationFrame(() => {
    for (const id of [...stale]) {
      const r = $(id) && $(id).getBoundingClientRect();
      if (!r || r.bottom < 0 || r.top > innerHeight) continue;
      stale.delete(id);
      if (id === "latency") drawLatency(); else drawTimeline();
    }
  });
}
addEventListener("scroll", drawStale, {passive: true});
function later(what) { cancelAnimationFrame(frame); frame = requestAnimationFrame(what); }

function setView(from, to) {
  const least = 4, most = data.span * 1.04, mid = (from + to) / 2, wide = Math.min(most, Math.max(least, to - from));
  let a = mid - wide / 2;
  a = Math.max(-data.span * 0.02, Math.min(a, data.span * 1.02 - wide));
  view.from = a;
  view.to = a + wide;
  later(drawTimeline);
}

function zoomAt(by, at = (view.from + view.to) / 2) { setView(at - (at - view.from) * by, at + (view.to - at) * by); }
function fit() { lit = new Set(); chosen = -1; view.order = Array.from({length: data.lanes.sessions.length}, (_, i) => i); view.top = 0; setView(-data.span * 0.02, data.span * 1.02); $("beside").textContent = ""; }
function scrollLanes(by) { view.top = Math.max(0, Math.min(view.order.length - lanesShown(), view.top + by)); later(drawTimeline); }

function stepTransaction(by) {
  const lane = chosen >= 0 ? data.session[chosen] : view.order[view.top];
  let t = chosen >= 0 ? chosen + by : firstFrom(lane, view.from);
  if (t < data.first[lane] || t >= data.first[lane + 1]) return;
  chosen = t;
  const wide = view.to - view.from;
  if (data.begin[t] < view.from || data.begin[t] > view.to) setView(data.begin[t] - wide / 2, data.begin[t] + wide / 2); else later(drawTimeline);
  $("beside").replaceChildren(...tell(t));
}

function pointerTime(canvas, ev) {
  const r = canvas.getBoundingClientRect(), W = r.width;
  return view.from + (view.to - view.from) * (ev.clientX - r.left - LEFT) / (W - LEFT - RIGHT);
}

function listen(canvas) {
  const held = new Map();
  let pinch = 0;
  canvas.addEventListener("wheel", ev => {
    if (!ev.ctrlKey && document.activeElement !== canvas) return;
    ev.preventDefault();
    if (ev.shiftKey) scrollLanes(Math.sign(ev.deltaY)); else zoomAt(Math.pow(1.0015, ev.deltaY), pointerTime(canvas, ev));
  }, {passive: false});
  canvas.addEventListener("pointerdown", ev => { canvas.setPointerCapture(ev.pointerId); held.set(ev.pointerId, ev); hideTip(); });
  canvas.addEventListener("pointermove", ev => {
    const before = held.get(ev.pointerId);
    if (!before) return;
    const per = (view.to - view.from) / (canvas.clientWidth - LEFT - RIGHT);
    if (held.size === 1) {
      const dx = (ev.clientX - before.clientX) * per, lanes = Math.trunc((before.clientY - ev.clientY) / laneHeight());
      setView(view.from - dx, view.to - dx);
      if (lanes && ev.pointerType !== "touch") scrollLanes(lanes);
    } else {
      const [a, b] = [...held.values()], wide = Math.max(10, Math.abs(a.clientX - b.clientX));
      if (pinch) zoomAt(pinch / wide, pointerTime(canvas, {clientX: (a.clientX + b.clientX) / 2}));
      pinch = wide;
    }
    held.set(ev.pointerId, ev);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, ev => { held.delete(ev.pointerId); if (held.size < 2) pinch = 0; });
  canvas.addEventListener("dblclick", ev => zoomAt(1 / 3, pointerTime(canvas, ev)));
  canvas.addEventListener("click", ev => {
    const r = canvas.getBoundingClientRect(), t = canvas.hit(ev.clientX - r.left, ev.clientY - r.top);
    chosen = t;
    if (t >= 0) $("beside").replaceChildren(...tell(t));
    later(drawTimeline);
  });
  canvas.addEventListener("keydown", ev => {
    const wide = view.to - view.from, keys = {
      ArrowLeft: () => setView(view.from - wide / 6, view.to - wide / 6), ArrowRight: () => setView(view.from + wide / 6, view.to + wide / 6),
      ArrowUp: () => scrollLanes(-1), ArrowDown: () => scrollLanes(1), PageUp: () => scrollLanes(-lanesShown()), PageDown: () => scrollLanes(lanesShown()),
      "+": () => zoomAt(1 / 1.5), "=": () => zoomAt(1 / 1.5), "-": () => zoomAt(1.5), "0": fit, Home: fit, "[": () => stepTransaction(-1), "]": () => stepTransaction(1)};
    if (!keys[ev.key] || ev.ctrlKey || ev.metaKey || ev.altKey) return;
    ev.preventDefault();
    ev.stopPropagation();
    keys[ev.key]();
  });
}

function hoverCanvas(canvas) {
  canvas.addEventListener("pointermove", ev => {
    if (ev.buttons || !canvas.hit) { hideTip(); return; }
    const r = canvas.getBoundingClientRect(), t = canvas.hit(ev.clientX - r.left, ev.clientY - r.top);
    canvas.style.cursor = t >= 0 ? "pointer" : "";
    if (t < 0) hideTip(); else showTip(ev, tell(t));
  });
  canvas.addEventListener("pointerleave", hideTip);
}

/* ---- from an anomaly to its transactions ---- */

/* With `also`, one more transaction is shown beside them. */
function focusAnomaly(i, also) {
  if (!data) return;
  const a = about.h.anomalies[i];
  const some = a.txns.filter(t => t.n > 0 && t.n <= data.n && (t.on || t.named || !a.cycle)).map(t => t.n - 1).filter(t => !(data.flags[t] & NO_TIME));
  if (!some.length) return;
  lit = new Set(some);
  chosen = also > 0 && also <= data.n ? also - 1 : -1;
  let from = Infinity, to = -Infinity;
  for (const t of chosen < 0 ? some : [...some, chosen]) { from = Math.min(from, data.begin[t]); to = Math.max(to, data.begin[t], data.end[t]); }
  const involved = [...new Set((chosen < 0 ? some : [...some, chosen]).map(t => data.session[t]))], others = new Map();
  for (let s = 0; s < data.lanes.sessions.length; s++)
    for (let t = firstFrom(s, from); t < data.first[s + 1] && data.begin[t] <= to; t++) if (!lit.has(t)) others.set(s, (others.get(s) || 0) + 1);
  view.order = [...involved, ...Array.from({length: data.lanes.sessions.length}, (_, s) => s).filter(s => !involved.includes(s))];
  view.top = 0;
  const pad = Math.max(8, (to - from) * 0.25);
  setView(from - pad, to + pad);
  const beside = [...others.values()].reduce((p, q) => p + q, 0);
  $("beside").textContent = a.name + ": " + some.slice(0, 6).map(nameOf).join(", ") + (some.length > 6 ? " and " + (some.length - 6) + " more" : "") + ", from " + clock(from) + " to " + clock(to) +
    ". Meanwhile " + count(beside) + (beside === 1 ? " other transaction" : " other transactions") + " of " + others.size + (others.size === 1 ? " session ran." : " sessions ran.");
  $("lanes").scrollIntoView({block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
  $("timeline").focus({preventScroll: true});
}

/* ---- what the history looks like ---- */

function drawConcurrency() {
  const canvas = $("concurrency");
  if (!canvas) return;
  const s = sheet(canvas, 120), {g, W, c} = s, top = 12, foot = s.H - 22, bins = 200, open = new Float64Array(bins), per = data.span / bins;
  for (let t = 0; t < data.n; t++) {
    if (data.flags[t] & NO_TIME || data.end[t] < 0) continue;
    for (let b = Math.floor(data.begin[t] / per); b < bins && b * per < data.end[t]; b++) if (b >= 0) open[b] += Math.min(data.end[t], (b + 1) * per) - Math.max(data.begin[t], b * per);
  }
  const most = Math.max(1, ...open.map(v => v / per)), y = v => foot - (foot - top) * v / most, x = timeAxis(s, 0, data.span, foot);
  drawFaults(s, x, top, foot);
  g.textAlign = "right";
  for (const v of [0, most]) {
    g.strokeStyle = c.line;
    g.beginPath(); g.moveTo(LEFT, y(v)); g.lineTo(W - RIGHT, y(v)); g.stroke();
    g.fillStyle = c.soft;
    g.fillText(v ? v.toFixed(1) + " open" : "0", LEFT - 8, y(v) + 4);
  }
  g.fillStyle = c.read;
  g.globalAlpha = 0.35;
  g.beginPath(); g.moveTo(LEFT, foot);
  open.forEach((v, i) => g.lineTo(x((i + 0.5) * per), y(v / per)));
  g.lineTo(W - RIGHT, foot);
  g.fill();
  g.globalAlpha = 1;
}

/* Rows of [label, parts of [value, class], text] as bars of one scale. */
function bars(title, rows, note) {
  const most = Math.max(1, ...rows.map(r => r[1].reduce((p, q) => p + q[0], 0)));
  const table = el("table", {class: "bars"}, el("caption", {}, title));
  for (const [label, parts, text] of rows)
    table.append(el("tr", {}, el("th", {scope: "row"}, label), el("td", {class: "wide"}, el("div", {class: "stack"}, ...parts.map(([v, k]) => el("span", {class: k, style: "width:" + (100 * v / most).toFixed(2) + "%"})))), el("td", {class: "num"}, text)));
  return el("div", {class: "fact"}, table, note ? el("p", {class: "facts"}, note) : "");
}

const BEHIND = ["none", "1 version", "2", "3", "4 to 7", "8 to 15", "16 to 31", "32 or more"];
const LATE = ["under 1 ms", "under 10 ms", "under 100 ms", "under 1 s", "under 10 s", "under 100 s", "longer"];

function factPanels(h) {
  const out = [], l = h.look, share = (n, all) => count(n) + (all ? " (" + (100 * n / all).toFixed(n && n < all / 100 ? 2 : 0) + " %)" : "");
  if (!l) return out;
  if (l.keys.length) out.push(bars("Keys that are used most", l.keys.map(([k, r, w]) => [k, [[r, "read"], [w, "write"]], count(r) + " reads, " + count(w) + " writes"]),
    count(l.distinct) + (l.distinct === 1 ? " key, " : " keys, ") + count(l.reads) + " reads and " + count(l.writes) + " writes."));
  const st = l.stale;
  if (!st || !st.reads) return out;
  const trim = list => { let n = list.length; while (n > 1 && !list[n - 1]) n--; return list.slice(0, n); };
  const who = t => data && t ? nameOf(t - 1) : "";
  out.push(bars("How many versions a read is behind", trim(st.versions).map((n, i) => [BEHIND[i], [[n, i ? "late" : "read"]], share(n, st.reads)]),
    st.most ? "At most " + (st.most >= 64 ? "64 or more" : st.most) + (who(st.most_by) ? ", read by " + who(st.most_by) : "") + ". Only versions that were certainly there before the reader began count." : "Every read saw what was committed before its transaction began, or something newer."));
  if (st.times && st.most) out.push(bars("How long what was read had been overwritten", trim(st.times).map((n, i) => [LATE[i], [[n, "late"]], count(n)]),
    "At most " + seconds(st.longest / 1e9) + (who(st.longest_by) ? ", read by " + who(st.longest_by) : "") + "."));
  return out;
}

function outcomePanel() {
  const rows = [["only reads", READS], ["only writes", WRITES], ["both", READS | WRITES]].map(([name, kind]) => {
    const n = [0, 0, 0];
    for (let t = 0; t < data.n; t++) if ((data.flags[t] & (READS | WRITES)) === kind) n[data.flags[t] & 3]++;
    return [name, n];
  }).filter(([, n]) => n[0] + n[1] + n[2]);
  return bars("How transactions ended", rows.map(([name, n]) => [name, [[n[0], name === "only reads" ? "read" : "write"], [n[1], "gone"], [n[2], "dunno"]],
    n.map((v, i) => v ? count(v) + " " + OUTCOME[i] : "").filter(Boolean).join(", ")]));
}

/* ---- everything together ---- */

const swatch = (k, word) => el("span", {}, el("i", {class: "swatch " + k}), word);
const usedKinds = () => { const seen = new Set(); for (let t = 0; t < data.n; t++) seen.add(data.flags[t] & 3 ? data.flags[t] & 3 : data.flags[t] & WRITES ? "w" : "r"); return seen; };
function legend(more) {
  const k = usedKinds();
  return el("div", {class: "legend"}, k.has("r") ? swatch("read", "committed, only reads") : "", k.has("w") ? swatch("write", "committed, with writes") : "", k.has(ABORTED) ? swatch("gone", "aborted") : "", k.has(UNKNOWN) ? swatch("dunno", "outcome unknown") : "",
    about.bands.length ? swatch("fault", "until the server answered again") : "", ...more);
}

function panels() {
  const dash = d => svg("svg", {width: 26, height: 10, "aria-hidden": "true"}, svg("path", {d: "M1 5H25", stroke: "currentColor", "stroke-width": d ? 1.2 : 2, "stroke-dasharray": d}));
  const kids = [];
  if (!data.lanes.order && points.length >= 30) kids.push(el("section", {class: "panel", id: "latencies"}, el("h2", {}, "Latency"),
    el("div", {}, el("canvas", {id: "latency", role: "img", "aria-label": "Latency of transactions over time, with the middle, 95 % and 99 %"})),
    legend([el("span", {}, dash(""), "middle"), el("span", {}, dash("6 3"), "95 %"), el("span", {}, dash("2 3"), "99 %"), points.length < data.n ? el("span", {}, "points: " + count(points.length) + " of " + count(data.n)) : ""])));
  kids.push(el("section", {class: "panel", id: "lanes"}, el("div", {class: "head"}, el("h2", {}, "Timeline"),
      el("div", {class: "tools"}, el("button", {onclick: () => zoomAt(1.6), "aria-label": "Show more time"}, "−"), el("button", {onclick: fit, id: "whole"}, "Fit"), el("button", {onclick: () => zoomAt(1 / 1.6), "aria-label": "Show less time"}, "+"))),
    el("div", {}, el("canvas", {id: "timeline", tabindex: "0", role: "application", "aria-label": "Timeline of sessions. Arrows move, plus and minus zoom, 0 shows all, brackets step from transaction to transaction.", "aria-describedby": "timeline-say"})),
    el("p", {class: "facts", id: "timeline-say", "aria-live": "polite"}), el("p", {class: "beside", id: "beside", "aria-live": "polite"}), legend([])));
  return kids;
}

function redraw() {
  if (!data) return;
  drawLatency();
  drawTimeline();
  drawConcurrency();
}

async function draw(box, what) {
  about = what;
  const h = what.h;
  box.hidden = !h.lanes && !h.look;
  data = null;
  /* The verdict is on the screen before a million transactions are unpacked. */
  if (document.readyState !== "complete") await new Promise(go => addEventListener("load", () => setTimeout(go, 0), {once: true}));
  const left = h.lanes && h.lanes.left ? el("p", {class: "facts"}, "The transactions are too many for a timeline in this page.") : "";
  if (h.lanes && !h.lanes.left && typeof DecompressionStream !== "undefined") {
    const d = await decode(h.lanes);
    if (about !== what) return; /* another history was chosen meanwhile */
    data = d;
    view = {from: 0, to: 1, top: 0, order: d.lanes.sessions.map((_, i) => i)};
    points = choosePoints();
    curves = quantiles();
  }
  const look = factPanels(h);
  if (data) look.push(outcomePanel());
  box.replaceChildren(...(data ? panels() : []), look.length || left ? el("section", {class: "panel", id: "look"}, el("h2", {}, "What the history looks like"), left,
    data && !data.lanes.order && data.n >= 30 ? el("div", {}, el("h3", {}, "Transactions open at a time"), el("div", {}, el("canvas", {id: "concurrency", role: "img", "aria-label": "Transactions open at a time"}))) : "",
    el("div", {class: "factgrid"}, ...look)) : "");
  if (!data) return;
  listen($("timeline"));
  for (const c of ["timeline", "latency"]) if ($(c)) hoverCanvas($(c));
  fit();
  drawLatency();
  drawConcurrency();
  box.dataset.ready = "yes";
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
return {draw, redraw, focusAnomaly, ready: () => !!data, pick(i) { if (about && data) { about.anomaly = i; stale = new Set(["latency", "timeline"]); drawStale(); } }, view: () => view, data: () => data};
})();
