"use strict";
(() => {
const D = JSON.parse(document.getElementById("data").textContent);
const KINDS = {so: "session order", wr: "reads from", ww: "version order", rw: "missed write", rt: "real time", co: "commit order, inferred"};
const VERDICT = {pass: ["✓", "holds"], fail: ["✗", "violated"], unknown: ["?", "unknown"]};

/* What is on the screen. `open` holds the edges whose reasons are drawn in, `full` the
 * transactions that show all they did. */
const state = {history: 0, anomaly: 0, branch: 0, open: new Set(), full: new Set(), vertical: false, zoom: 1};

const moment = ns => (ns / 1e9).toFixed(6) + " s";
const H = () => D.histories[state.history];
const A = () => (H().anomalies || [])[state.anomaly];

/* ---- head and ladder ---- */

function verdictLine(h) {
  if (h.error) return "This history was not checked";
  if (h.promise) return h.promise.line;
  const best = h.levels.filter(l => h.strongest.includes(l.id)).map(l => l.name).join(" and ");
  const failed = h.levels.filter(l => l.verdict === "fail");
  if (!failed.length && best) return "Holds: " + best;
  if (!failed.length) return "No level could be decided";
  const worst = failed[0].name[0].toUpperCase() + failed[0].name.slice(1) + " is violated";
  return best ? worst + "; " + best + (h.strongest.length > 1 ? " hold" : " holds") : worst;
}

function drawTop() {
  const h = H();
  const pick = el("select", {"aria-label": "History", onchange: e => show(+e.target.value, first(D.histories[e.target.value]))});
  D.histories.forEach((x, i) => {
    const bad = x.error ? "not checked" : x.levels.some(l => l.verdict === "fail") ? "fails" : "";
    pick.append(el("option", {value: i, selected: i === state.history}, x.path + (bad ? " (" + bad + ")" : "")));
  });
  $("top").replaceChildren(
    el("div", {class: "brand"}, el("b", {}, "insula"), D.histories.length > 1 ? pick : el("span", {class: "mono"}, h.path)),
    el("h1", {class: h.promise ? "promise " + h.promise.verdict : null}, verdictLine(h)),
    ...(h.promise ? [el("p", {class: "facts"}, h.promise.source), el("p", {class: "setup"}, h.promise.setup)] : []),
    el("p", {class: "facts"}, h.error || h.facts),
    ...(h.promise ? [el("p", {class: "facts", id: "power"}, h.promise.power)] : []),
    h.promise && h.promise.weak ? el("p", {class: "note weak"}, h.promise.weak) : "",
    h.lost_commits ? el("p", {class: "note weak", id: "lost"}, count(h.lost_commits) + (h.lost_commits === 1 ? " commit was" : " commits were") +
      " lost: acknowledged, and not there for those who came later.") : "",
    h.note ? el("p", {class: "note"}, h.note) : "");
  document.title = h.path + ": " + verdictLine(h);
}

function drawLadder() {
  const list = el("ol", {class: "ladder"});
  for (const l of H().levels || []) {
    const [sign, word] = VERDICT[l.verdict];
    list.append(el("li", {class: l.verdict + (l.beyond ? " beyond" : "") + (H().strongest.includes(l.id) ? " best" : ""), title: l.why ? l.why : l.meaning},
      el("span", {class: "id"}, l.id), el("span", {class: "sec"}, l.seconds > 0 ? seconds(l.seconds) : ""),
      el("span", {class: "nm"}, l.name + (l.free ? ", but for session order" : "")),
      el("span", {class: "vd"}, sign + " " + word, l.beyond ? el("small", {}, "not promised") : "")));
  }
  const open = (H().levels || []).filter(l => l.why);
  const said = open.map(l => l.name + " is unknown: " + l.why).concat((H().left || []).map(l => l.name + ": " + l.why));
  $("verdict").replaceChildren(list, said.length ? el("p", {class: "facts", id: "undecided"}, said.join("; ")) : "");
}

/* ---- the list of anomalies ---- */

function drawList() {
  const h = H(), nav = $("list");
  const box = $("anomalies");
  box.hidden = !h.anomalies || !h.anomalies.length;
  if (box.hidden) return;
  const kids = [];
  const broken = h.anomalies.some(a => !a.beyond);
  if (!h.promise || broken) kids.push(el("h2", {}, count(h.total) + (h.total === 1 ? " anomaly" : " anomalies")));
  /* In the order of the anomalies themselves: weakest level first. */
  const by = new Map(h.counts.map(c => [c.name, []]));
  h.anomalies.forEach((a, i) => by.get(a.name).push(i));
  const rank = c => by.get(c.name).length ? by.get(c.name)[0] : 1e9;
  const beyond = c => by.get(c.name).every(i => h.anomalies[i].beyond);
  const sorted = [...h.counts].sort((p, q) => rank(p) - rank(q));
  for (const over of [false, true]) {
    const kinds = sorted.filter(c => (h.promise ? beyond(c) : false) === over);
    if (over && kinds.length) kids.push(el("h2", {class: "over"}, "Beyond the promise"));
    for (const c of kinds) {
      kids.push(el("p", {class: "kind"}, el("span", {}, c.name), el("span", {}, count(c.count))));
      for (const i of by.get(c.name))
        kids.push(el("button", {"data-i": i, "aria-current": i === state.anomaly ? "true" : null, onclick: () => show(state.history, i)},
          el("small", {}, h.anomalies[i].headline)));
    }
  }
  if (h.total > h.anomalies.length)
    kids.push(el("p", {class: "more"}, count(h.anomalies.length) + " of " + count(h.total) + " are listed and drawn; all are counted."));
  nav.replaceChildren(...kids);
}

/* ---- which edges and transactions are drawn ---- */

function baseEdges(a) {
  if (!a.cases) return range(0, a.cycle || a.edges.length);
  const c = a.cases[state.branch];
  return range(c.c[0], c.c[1]);
}

function range(from, n) { return Array.from({length: n}, (_, i) => from + i); }

function drawnEdges(a) {
  const seen = new Map();
  const add = (i, premise) => {
    if (seen.has(i)) return;
    seen.set(i, premise);
    if (state.open.has(i)) for (const p of a.edges[i].p) add(p, true);
  };
  for (const i of baseEdges(a)) add(i, false);
  /* Whoever the headline names is drawn, with what ties it to the cycle. */
  const named = e => a.txns[e.f].named || a.txns[e.t].named;
  for (const i of baseEdges(a)) for (const p of a.edges[i].p) if (named(a.edges[p])) add(p, true);
  /* A premise that repeats an edge of the cycle is drawn once. */
  const out = [], taken = new Set();
  for (const [i, premise] of seen) {
    const e = a.edges[i], key = [e.f, e.t, e.k, e.key].join(" ");
    if (taken.has(key)) continue;
    taken.add(key);
    out.push({i, e, premise});
  }
  return out;
}

function drawnTxns(a, edges) {
  const on = new Set();
  for (const {e} of edges) { on.add(e.f); on.add(e.t); }
  a.txns.forEach((t, i) => { if (t.named || (!a.cycle && !a.cases)) on.add(i); });
  return on;
}

/* ---- layout: lanes by session, columns by rank ---- */

const CW = 7.9, LH = 18, PADX = 11, MAXOPS = 9;

function boxLines(t) {
  if (state.full.has(t.id)) return t.ops.map(o => o[0]).concat(t.more ? ["… " + t.more + " more"] : []);
  const hot = t.ops.filter(o => o[1]);
  const shown = (hot.length ? hot : t.ops).slice(0, MAXOPS).map(o => o[0]);
  if (shown.length < hot.length) shown.push("…");
  return shown;
}

function layout(a, on, vertical) {
  const ids = [...on].sort((x, y) => x - y);
  const lanes = [...new Set(ids.map(i => a.txns[i].lane))].sort((x, y) => x - y);
  const ranks = [...new Set(ids.map(i => a.txns[i].rank))].sort((x, y) => x - y);
  const boxes = new Map();
  for (const i of ids) {
    const t = a.txns[i], lines = boxLines(t);
    const title = t.id.length + (t.line ? String(t.line).length + 7 : 0) + (t.status ? t.status.length + 1 : 0);
    const w = Math.max(title * CW * 0.96, ...lines.map(s => s.length * CW), 44) + 2 * PADX;
    boxes.set(i, {i, t, lines, w, h: 28 + lines.length * LH + (lines.length ? 6 : 0), lane: lanes.indexOf(t.lane), col: ranks.indexOf(t.rank)});
  }
  const all = [...boxes.values()];
  const size = (n, pick, axis) => range(0, n).map(j => Math.max(0, ...all.filter(b => b[pick] === j).map(b => b[axis])));
  const stack = (sizes, start, gap) => { let at = start; return sizes.map(s => { const p = at; at += s + gap; return p; }); };
  const labelW = Math.max(...lanes.map(l => a.lanes[l].length)) * 7.6 + 26;
  if (!vertical) {
    const xs = size(ranks.length, "col", "w"), ys = size(lanes.length, "lane", "h");
    const x0 = stack(xs, labelW + 30, 92), y0 = stack(ys, 30, 64);
    for (const b of all) { b.x = x0[b.col] + (xs[b.col] - b.w) / 2; b.y = y0[b.lane] + (ys[b.lane] - b.h) / 2; }
    return {boxes, lanes: lanes.map((l, j) => ({name: a.lanes[l], at: y0[j], size: ys[j]})), labelW, vertical};
  }
  const xs = size(lanes.length, "lane", "w").map((w, j) => Math.max(w, a.lanes[lanes[j]].length * 7.4)), ys = size(ranks.length, "col", "h");
  const x0 = stack(xs, 20, 28), y0 = stack(ys, 56, 60);
  for (const b of all) { b.x = x0[b.lane] + (xs[b.lane] - b.w) / 2; b.y = y0[b.col]; }
  return {boxes, lanes: lanes.map((l, j) => ({name: a.lanes[l], at: x0[j], size: xs[j]})), labelW, vertical};
}

/* ---- routing: lines that never cross a box ----
 *
 * A line is bowed to one side or the other, as little as it can.  Where every bow would
 * cross a box it goes through the gaps between the lanes and columns instead, which
 * always leads there. */

const BOWS = [0, 26, -26, 52, -52, 84, -84, 120, -120, 165, -165, 220, -220];

function quad(p, c, q, t) {
  const u = 1 - t;
  return [u * u * p[0] + 2 * u * t * c[0] + t * t * q[0], u * u * p[1] + 2 * u * t * c[1] + t * t * q[1]];
}

const inside = (b, [x, y], m) => x > b.x - m && x < b.x + b.w + m && y > b.y - m && y < b.y + b.h + m;

function bowed(f, t, bow) {
  const p = [f.x + f.w / 2, f.y + f.h / 2], q = [t.x + t.w / 2, t.y + t.h / 2];
  const dx = q[0] - p[0], dy = q[1] - p[1], len = Math.hypot(dx, dy) || 1;
  const c = [(p[0] + q[0]) / 2 + dy / len * bow * 2, (p[1] + q[1]) / 2 - dx / len * bow * 2];
  let a = 0, z = 1;
  while (a < 0.49 && inside(f, quad(p, c, q, a), 1)) a += 0.008;
  while (z > 0.51 && inside(t, quad(p, c, q, z), 5)) z -= 0.008;
  return range(0, 25).map(i => quad(p, c, q, a + (z - a) * i / 24));
}

/* Does the piece of line from p to q pass the box, which is grown by m on every side? */
function passes(b, p, q, m) {
  let from = 0, to = 1;
  for (const [at, d, lo, hi] of [[p[0], q[0] - p[0], b.x - m, b.x + b.w + m], [p[1], q[1] - p[1], b.y - m, b.y + b.h + m]]) {
    if (Math.abs(d) < 1e-9) { if (at <= lo || at >= hi) return false; continue; }
    const s = (lo - at) / d, e = (hi - at) / d;
    from = Math.max(from, Math.min(s, e));
    to = Math.min(to, Math.max(s, e));
  }
  return from < to;
}

function isFree(pts, boxes, f, t) {
  for (let i = 1; i < pts.length; i++)
    for (const b of boxes)
      if (passes(b, pts[i - 1], pts[i], b === f || b === t ? -2 : 3)) return false;
  return true;
}

/* The strips beside the boxes that no box reaches into, along one axis. */
function gaps(boxes, at, size) {
  const spans = boxes.map(b => [b[at], b[at] + b[size]]).sort((p, q) => p[0] - q[0]);
  const out = [];
  let end = spans[0][0];
  out.push([end - 90, end]);
  for (const [lo, hi] of spans) {
    if (lo > end + 8) out.push([end, lo]);
    end = Math.max(end, hi);
  }
  out.push([end, end + 90]);
  return out;
}

/* A place in a gap, away from those taken before. */
function place(gap, taken) {
  const [lo, hi] = gap, step = Math.min(11, (hi - lo) / 8);
  const off = (taken % 2 ? 1 : -1) * Math.ceil(taken / 2) * step;
  return Math.min(hi - 4, Math.max(lo + 4, (lo + hi) / 2 + off));
}

/* Where a line may leave a box: through one of its sides into the next gap there. */
function doors(b, xs, ys, taken) {
  const shift = ((taken % 5) - 2) * 7;
  const mx = b.x + b.w / 2 + Math.max(-b.w / 3, Math.min(b.w / 3, shift)), my = b.y + b.h / 2 + Math.max(-b.h / 3, Math.min(b.h / 3, shift));
  const left = [...xs].reverse().find(g => g[1] <= b.x + 1), right = xs.find(g => g[0] >= b.x + b.w - 1);
  const over = [...ys].reverse().find(g => g[1] <= b.y + 1), under = ys.find(g => g[0] >= b.y + b.h - 1);
  return [[b.x, my, left, false], [b.x + b.w, my, right, false], [mx, b.y, over, true], [mx, b.y + b.h, under, true]]
    .map(([x, y, gap, flat]) => ({x, y, flat, gap, at: place(gap, taken)}));
}

function corridor(p, q, xs, ys, taken) {
  const enter = d => d.flat ? [d.x, d.at] : [d.at, d.y];
  const a = enter(p), b = enter(q), start = [p.x, p.y], end = [q.x, q.y];
  if (p.flat !== q.flat) return [start, a, p.flat ? [q.at, p.at] : [p.at, q.at], b, end];
  if (p.gap === q.gap) {
    if (p.flat) b[1] = a[1]; else b[0] = a[0];
    return [start, a, b, end];
  }
  const across = p.flat ? xs : ys, k = p.flat ? 0 : 1, wish = (a[k] + b[k]) / 2;
  const gap = across.reduce((x, y) => Math.abs((y[0] + y[1]) / 2 - wish) < Math.abs((x[0] + x[1]) / 2 - wish) ? y : x);
  const at = place(gap, taken);
  return p.flat ? [start, a, [at, p.at], [at, q.at], b, end] : [start, a, [p.at, at], [q.at, at], b, end];
}

const lengthOf = pts => pts.slice(1).reduce((sum, p, i) => sum + Math.hypot(p[0] - pts[i][0], p[1] - pts[i][1]), 0);

function around(f, t, boxes, taken) {
  const xs = gaps(boxes, "x", "w"), ys = gaps(boxes, "y", "h");
  let best = null;
  for (const p of doors(f, xs, ys, taken))
    for (const q of doors(t, xs, ys, taken + 1)) {
      const pts = corridor(p, q, xs, ys, taken), cost = lengthOf(pts) + 40 * pts.length;
      if ((!best || cost < best.cost) && isFree(pts, boxes, f, t)) best = {pts, cost};
    }
  return best && rounded(best.pts);
}

function rounded(pts) {
  const out = [pts[0]];
  for (let i = 1; i + 1 < pts.length; i++) {
    const toward = q => {
      const d = Math.hypot(q[0] - pts[i][0], q[1] - pts[i][1]) || 1, r = Math.min(10, d / 2) / d;
      return [pts[i][0] + (q[0] - pts[i][0]) * r, pts[i][1] + (q[1] - pts[i][1]) * r];
    };
    const a = toward(pts[i - 1]), b = toward(pts[i + 1]);
    for (const s of [0, 0.33, 0.67, 1]) out.push(quad(a, pts[i], b, s));
  }
  const last = pts[pts.length - 1], before = out[out.length - 1], d = Math.hypot(last[0] - before[0], last[1] - before[1]) || 1;
  /* The arrow's head needs room before the box. */
  out.push([last[0] - (last[0] - before[0]) / d * Math.min(5, d / 2), last[1] - (last[1] - before[1]) / d * Math.min(5, d / 2)]);
  return out;
}

/* The point that lies this share of the way along a line. */
function along(pts, share) {
  let left = lengthOf(pts) * share;
  for (let i = 1; i < pts.length; i++) {
    const d = Math.hypot(pts[i][0] - pts[i - 1][0], pts[i][1] - pts[i - 1][1]);
    if (left <= d && d > 0) return [pts[i - 1][0] + (pts[i][0] - pts[i - 1][0]) * left / d, pts[i - 1][1] + (pts[i][1] - pts[i - 1][1]) * left / d];
    left -= d;
  }
  return pts[pts.length - 1];
}

/* Where a label of this width covers least, and what that costs. */
function spotFor(pts, lw, boxes, labels) {
  let spot = null;
  for (const share of [0.5, 0.42, 0.58, 0.33, 0.67, 0.25, 0.75]) {
    const [x, y] = along(pts, share), lab = {x: x - lw / 2, y: y - 9, w: lw, h: 18};
    let c = Math.abs(share - 0.5) * 48;
    for (const b of boxes) if (overlap(lab, b)) c += 80;
    for (const l of labels) if (overlap(lab, l)) c += 60;
    if (!spot || c < spot.c) spot = {c, lab, at: [x, y]};
  }
  return spot;
}

function routeAll(lay, edges) {
  const placed = [], labels = [], boxes = [...lay.boxes.values()];
  const between = new Map();
  let corridors = 0;
  const pair = e => Math.min(e.f, e.t) + "-" + Math.max(e.f, e.t);
  for (const d of edges) between.set(pair(d.e), (between.get(pair(d.e)) || 0) + 1);
  for (const d of edges) {
    const f = lay.boxes.get(d.e.f), t = lay.boxes.get(d.e.t);
    const text = d.e.k + (d.e.key !== null ? " " + d.e.key : "");
    const lw = (Math.min(text.length, 26) + (d.e.p.length ? 2 : 0)) * 6.9 + 12;
    let best = null;
    for (const bow of BOWS) {
      if (bow === 0 && between.get(pair(d.e)) > 1) continue;
      const pts = bowed(f, t, bow);
      if (!isFree(pts, boxes, f, t)) continue;
      let cost = Math.abs(bow) * 0.6 + (bow < 0 ? 3 : 0);
      for (const o of placed)
        for (const p of [0.25, 0.42, 0.5, 0.58, 0.75].map(s => along(pts, s))) {
          const near = Math.min(...o.map(x => Math.hypot(x[0] - p[0], x[1] - p[1])));
          if (near < 28) cost += 1.5 * (28 - near);
        }
      for (const p of pts) if (p[0] < (lay.vertical ? 6 : lay.labelW) || p[1] < 6) cost += 14;
      const spot = spotFor(pts, lw, boxes, labels);
      if (!best || cost + spot.c < best.cost) best = {pts, cost: cost + spot.c, spot};
    }
    if (!best) {
      const pts = around(f, t, boxes, corridors++) || bowed(f, t, 0);
      best = {pts, spot: spotFor(pts, lw, boxes, labels)};
    }
    d.pts = best.pts;
    d.label = {text: text.length > 26 ? text.slice(0, 25) + "…" : text, at: best.spot.at};
    placed.push(best.pts);
    labels.push(best.spot.lab);
  }
}

const overlap = (p, q) => p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h;

function pathOf(pts) {
  return "M" + pts.map(p => p[0].toFixed(1) + " " + p[1].toFixed(1)).join("L");
}

function arrow(pts, kind) {
  const [x, y] = pts[pts.length - 1], length = lengthOf(pts), [px, py] = along(pts, Math.max(0, 1 - 12 / (length || 1)));
  const a = Math.atan2(y - py, x - px), s = 11;
  const c = (d, r) => (x + r * Math.cos(a + d)).toFixed(1) + " " + (y + r * Math.sin(a + d)).toFixed(1);
  return svg("path", {d: "M" + c(0, 2) + "L" + c(Math.PI - 0.4, s) + "L" + c(Math.PI + 0.4, s) + "Z", fill: "var(--" + kind + ")"});
}

/* ---- drawing ---- */

function drawBox(a, b) {
  const t = b.t;
  const g = svg("g", {class: "box" + (t.on ? " on" : " side") + (t.status === "aborted" ? " aborted" : ""), "data-txn": t.id,
    style: "transform:translate(" + b.x.toFixed(1) + "px," + b.y.toFixed(1) + "px)"});
  g.append(svg("rect", {width: b.w, height: b.h, rx: 7}));
  const title = svg("text", {x: PADX, y: 20, class: "t"}, t.id);
  const rest = (t.line ? "line " + t.line : "") + (t.status ? (t.line ? ", " : "") + t.status : "");
  if (rest) title.append(svg("tspan", {class: "ln", dx: 9}, rest));
  g.append(title);
  b.lines.forEach((s, j) => g.append(svg("text", {x: PADX, y: 40 + j * LH, class: "o"}, s)));
  const folded = t.ops.some(o => !o[1]) && t.ops.some(o => o[1]);
  if (folded) {
    for (const [k, v] of Object.entries({tabindex: 0, role: "button", "aria-expanded": state.full.has(t.id) ? "true" : "false", "aria-label": t.id + ": show all it did"})) g.setAttribute(k, v);
    g.classList.add("folds");
    g.addEventListener("click", () => unfold(t.id));
    g.addEventListener("keydown", ev => { if (ev.key === "Enter" || ev.key === " ") { ev.preventDefault(); unfold(t.id); } });
  }
  hover(g, () => [el("b", {}, t.id), " in " + a.lanes[t.lane] + (t.at ? ", " + moment(t.at[0]) + " to " + (t.at[1] === null ? "?" : moment(t.at[1])) : ""),
    el("div", {class: "ops"}, t.ops.map(o => o[0]).join("  ") + (t.more ? "  … " + t.more + " more" : ""))]);
  return g;
}

function drawEdge(a, d) {
  const e = d.e;
  const g = svg("g", {class: "e " + e.k + (d.premise ? " premise" : ""), "data-edge": d.i, "data-from": a.txns[e.f].id, "data-to": a.txns[e.t].id,
    "data-type": e.k, tabindex: 0, role: "button", "aria-label": a.txns[e.f].id + " to " + a.txns[e.t].id + ", " + KINDS[e.k] + ": " + e.why});
  g.append(svg("path", {class: "hit", d: pathOf(d.pts)}), svg("path", {class: "l", d: pathOf(d.pts)}), arrow(d.pts, e.k));
  const label = d.label.text + (e.p.length ? (state.open.has(d.i) ? " −" : " +") : "");
  const [lx, ly] = d.label.at, lw = label.length * 6.9 + 10;
  g.append(svg("rect", {class: "pill", x: (lx - lw / 2).toFixed(1), y: (ly - 9.5).toFixed(1), width: lw.toFixed(1), height: 19, rx: 9.5}));
  g.append(svg("text", {x: lx.toFixed(1), y: (ly + 4).toFixed(1)}, label));
  hover(g, () => [el("b", {}, a.txns[e.f].id + " → " + a.txns[e.t].id), " " + KINDS[e.k] + (e.key !== null ? " on " + e.key : ""),
    el("div", {}, e.why), e.p.length ? el("div", {}, state.open.has(d.i) ? "Click to fold." : "Click to see why.") : ""]);
  const act = () => { if (e.p.length) toggle(d.i); else light(d.i); };
  g.addEventListener("click", act);
  g.addEventListener("keydown", ev => { if (ev.key === "Enter" || ev.key === " ") { ev.preventDefault(); act(); } });
  g.addEventListener("pointerenter", () => light(d.i));
  g.addEventListener("focus", () => light(d.i));
  return g;
}

function bounds(lay, edges) {
  let x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  const grow = (x, y, m) => { x0 = Math.min(x0, x - m); y0 = Math.min(y0, y - m); x1 = Math.max(x1, x + m); y1 = Math.max(y1, y + m); };
  for (const b of lay.boxes.values()) { grow(b.x, b.y, 14); grow(b.x + b.w, b.y + b.h, 18); }
  for (const d of edges) {
    for (const p of d.pts) grow(p[0], p[1], 10);
    grow(d.label.at[0] - d.label.text.length * 3.6, d.label.at[1], 10);
    grow(d.label.at[0] + d.label.text.length * 3.6, d.label.at[1], 10);
  }
  return [x0, y0, x1 - x0, y1 - y0];
}

function picture(a) {
  const edges = drawnEdges(a), on = drawnTxns(a, edges);
  const lay = layout(a, on, state.vertical);
  routeAll(lay, edges);
  let [x, y, w, h] = bounds(lay, edges);
  const room = Math.max(240, $("stage").clientWidth - (state.vertical ? 28 : 40));
  /* The whole picture fits at first. */
  const scale = Math.min(1.12, room / w) * state.zoom;
  if (w * scale < room) { x -= (room / scale - w) / (lay.vertical ? 2 : 4); w = room / scale; }
  const s = svg("svg", {class: "pic", viewBox: [x, y, w, h].map(v => v.toFixed(1)).join(" "), width: Math.round(w * scale), height: Math.round(h * scale),
    role: "group", "aria-label": a.headline});
  lay.lanes.forEach((l, j) => {
    const lo = l.at - 16, size = l.size + 32;
    if (!lay.vertical) {
      s.append(svg("rect", {class: "lane-band", x, y: lo, width: w, height: size}));
      s.append(svg("text", {class: "lane-name", x: x + 14, y: l.at + l.size / 2 + 5}, l.name));
    } else {
      s.append(svg("rect", {class: "lane-band", x: l.at - 10, y, width: l.size + 20, height: h}));
      s.append(svg("text", {class: "lane-name", x: l.at + l.size / 2, y: y + 24, "text-anchor": "middle"}, l.name));
    }
  });
  for (const b of lay.boxes.values()) s.append(drawBox(a, b));
  for (const d of edges) s.append(drawEdge(a, d));
  const node = el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Picture of the anomaly"}, s);
  node.addEventListener("wheel", ev => { if (ev.ctrlKey) { ev.preventDefault(); zoom(ev.deltaY < 0 ? 1.2 : 1 / 1.2); } }, {passive: false});
  return {node, kinds: new Set(edges.map(d => d.e.k))};
}

function legend(kinds) {
  const box = el("div", {class: "legend"});
  for (const k of Object.keys(KINDS)) {
    if (!kinds.has(k)) continue;
    const line = svg("svg", {width: 40, height: 12, "aria-hidden": "true"}, svg("g", {class: "e " + k}, svg("path", {class: "l", d: "M1 6H32"})));
    line.firstChild.append(arrow([[20, 6], [30, 6], [38, 6]], k));
    box.append(el("span", {}, line, k.toUpperCase() + ", " + KINDS[k]));
  }
  return box;
}

function reason(a, i, depth) {
  const e = a.edges[i], open = state.open.has(i);
  const item = el("li", {"data-reason": i},
    el("div", {class: "row"},
      el("span", {class: "step"}, el("b", {}, a.txns[e.f].id), " ", el("span", {class: "k-" + e.k}, "─" + e.k + "→"), " ", el("b", {}, a.txns[e.t].id)),
      el("span", {class: "txt"}, e.why),
      e.p.length ? el("button", {"aria-expanded": open ? "true" : "false", "data-toggle": i, onclick: () => toggle(i)}, open ? "Fold" : "Why?") : ""));
  item.addEventListener("pointerenter", ev => { ev.stopPropagation(); light(i); });
  if (open && depth < 12) {
    if (e.not) item.append(el("p", {class: "excluded"}, el("b", {}, "The other order is excluded: "), e.not + "."));
    const inner = el("ul", {class: "why inner"});
    for (const p of e.p) inner.append(reason(a, p, depth + 1));
    item.append(inner);
  }
  return item;
}

function drawCases(a) {
  if (!a.cases) return "";
  const box = el("div", {class: "cases", role: "group", "aria-label": "Cases"}, "Case");
  a.cases.forEach((c, i) => box.append(el("button", {"aria-pressed": i === state.branch ? "true" : "false",
    onclick: () => { state.branch = i; state.open.clear(); drawStage(); }}, String(i + 1))));
  box.append(el("span", {}, "suppose that " + a.cases[state.branch].say + "; then this cycle closes"));
  if (a.cases_left) box.append(el("span", {}, " (" + a.cases_left + " more cases are not drawn)"));
  return box;
}

function zoom(by) {
  state.zoom = by ? Math.min(12, Math.max(0.3, state.zoom * by)) : 1;
  const old = $("stage").querySelector(".scroll"), x = old.scrollLeft + old.clientWidth / 2, wide = old.scrollWidth;
  const pic = picture(A()).node;
  old.replaceWith(pic);
  pic.scrollLeft = x * pic.scrollWidth / wide - pic.clientWidth / 2;
}

function drawStage() {
  if ($("anomalies").hidden) return;
  const a = A(), stage = $("stage");
  /* What is beyond a promise that was kept is a list until somebody asks for more. */
  stage.hidden = !a;
  $("anomalies").classList.toggle("lines", !a);
  if (!a) return;
  state.vertical = stage.clientWidth < 560;
  hideTip();
  const pic = picture(a);
  const list = el("ul", {class: "why"});
  for (const i of baseEdges(a)) list.append(reason(a, i, 0));
  const foldable = a.edges.some((e, i) => e.p.length);
  stage.replaceChildren(
    el("div", {class: "head"}, el("h2", {}, a.name + (a.letter ? " (" + a.letter + ")" : "") + ": " + a.title),
      el("span", {class: a.beyond ? "chip beyond" : "chip"}, "breaks " + a.forbids.join(", ") + (a.beyond ? ": not promised" : "")),
      el("div", {class: "tools"},
        H().lanes && !H().lanes.left && a.txns.some(t => t.at) ? el("button", {onclick: () => Pictures.focusAnomaly(state.anomaly), id: "ontimeline"}, "On the timeline") : "",
        el("button", {onclick: () => zoom(1 / 1.3), "aria-label": "Smaller", id: "smaller"}, "−"),
        el("button", {onclick: () => zoom(0), id: "fit"}, "Fit"),
        el("button", {onclick: () => zoom(1.3), "aria-label": "Larger", id: "larger"}, "+"), foldable ? el("button", {onclick: toggleAll, id: "expand"}, state.open.size ? "Fold all" : "Explain all") : "")),
    el("p", {class: "headline"}, a.headline, a.moments ? el("span", {class: "moments"}, a.moments.replace(/^f/, "F") + ".") : ""),
    drawCases(a), pic.node, legend(pic.kinds), list, drawOthers(a),
    a.left ? el("p", {class: "excluded"}, a.left) : "",
    el("p", {class: "meaning"}, H().counts.find(c => c.name === a.name).meaning, el("small", {}, "insula explain " + a.name)));
  for (const b of $("list").querySelectorAll("button")) {
    if (+b.dataset.i === state.anomaly) b.setAttribute("aria-current", "true"); else b.removeAttribute("aria-current");
  }
}

function toggle(i) {
  const keep = document.activeElement && document.activeElement.closest("[data-edge],[data-toggle]");
  if (state.open.has(i)) state.open.delete(i); else state.open.add(i);
  drawStage();
  if (keep) {
    const again = keep.dataset.edge !== undefined ? '[data-edge="' + i + '"]' : '[data-toggle="' + i + '"]';
    const e = $("stage").querySelector(again);
    if (e) e.focus({preventScroll: true});
  }
}

/* A transaction shows all that it did, or only what matters here. */
function unfold(id) {
  if (state.full.has(id)) state.full.delete(id); else state.full.add(id);
  drawStage();
  for (const b of $("stage").querySelectorAll(".box.folds")) if (b.dataset.txn === id) b.focus({preventScroll: true});
}

function drawOthers(a) {
  const some = (a.others || []).filter(o => o.txns.length);
  if (!some.length) return "";
  const onLine = H().lanes && !H().lanes.left;
  const one = ([n, id, wrote]) => onLine ? el("button", {onclick: () => Pictures.focusAnomaly(state.anomaly, n), title: "Show it on the timeline"}, el("b", {}, id), " " + wrote) : el("span", {}, el("b", {}, id), " " + wrote);
  return el("details", {class: "others"}, el("summary", {}, "Who else wrote " + some.map(o => o.key).join(", ")),
    ...some.map(o => el("p", {}, count(o.all) + (o.all === 1 ? " transaction" : " transactions") + " wrote " + o.key + "; nearest to these: ", ...o.txns.flatMap(t => [one(t), " "]))));
}

function toggleAll() {
  if (state.open.size) state.open.clear();
  else A().edges.forEach((e, i) => { if (e.p.length) state.open.add(i); });
  drawStage();
}

function light(i) {
  for (const e of $("stage").querySelectorAll(".lit")) e.classList.remove("lit");
  const e = A().edges[i];
  for (const x of $("stage").querySelectorAll('[data-edge="' + i + '"],[data-reason="' + i + '"]')) x.classList.add("lit");
  for (const n of [e.f, e.t])
    for (const b of $("stage").querySelectorAll(".box")) if (b.dataset.txn === A().txns[n].id) b.classList.add("lit");
}

/* ---- the run ---- */

function drawRun() {
  const h = H(), box = $("run"), ev = (h.events || []).map(([time, event, where]) => ({time, event, where}));
  /* A handful of transactions has no rate. */
  const t = h.time && h.time.done.concat(h.time.gone, h.time.dunno).reduce((p, q) => p + q, 0) >= 30 ? h.time : null;
  box.hidden = !t && !h.promise;
  if (box.hidden) return;
  const kids = [el("h2", {}, "The run")], p = h.promise;
  if (t) kids.push(throughput(t, ev, h.anomalies || []));
  const plural = (n, one) => count(n) + " " + one + (n === 1 ? "" : "s");
  if (p && (p.faults || p.lost || p.errors))
    kids.push(el("p", {class: "facts"}, plural(p.faults, "fault") + " injected, " + plural(p.lost, "connection") + " lost, " +
      plural(p.errors, "unexpected error")));
  box.replaceChildren(el("div", {class: "panel"}, ...kids));
}

/* From when to when a server did not answer or a fault lasted, by the log. */
const ENDS = ["up", "restart", "continue", "heal"];
function outages(ev, end) {
  const out = [], since = new Map();
  for (const e of ev) {
    if (!ENDS.includes(e.event) && !since.has(e.where)) since.set(e.where, e.time);
    if (["up", "heal"].includes(e.event) && since.has(e.where)) { out.push([since.get(e.where), e.time]); since.delete(e.where); }
  }
  for (const from of since.values()) out.push([from, end]);
  return out;
}

function throughput(t, ev, anomalies) {
  const marked = anomalies.map((a, i) => [a, i]).filter(([a]) => a.span);
  const narrow = innerWidth < 700, W = narrow ? 480 : 1000, L = 76, B = 26, top = 22, n = t.done.length, strip = marked.length ? 22 : 0, HT = 190 + strip;
  const total = range(0, n).map(i => t.done[i] + t.gone[i] + t.dunno[i]);
  const per = t.span / n / 1e9, most = Math.max(1, ...total), foot = HT - B - strip;
  const s = svg("svg", {class: "chart", viewBox: "0 0 " + W + " " + HT, role: "img", "aria-label": "Transactions over time"});
  /* Faults may come after the last transaction. */
  const span = Math.max(t.span, ...ev.map(e => e.time - t.start)), wide = W - L - 8;
  const at = ns => L + wide * Math.min(1, Math.max(0, (ns - t.start) / span));
  const x = i => L + wide * (i / n) * (t.span / span), y = v => top + (foot - top) * (1 - v / most);
  for (const [from, to] of outages(ev, t.start + span))
    s.append(svg("rect", {class: "outage", x: at(from).toFixed(1), y: top, width: Math.max(1, at(to) - at(from)).toFixed(1), height: foot - top}));
  for (const v of [0, most / 2, most]) {
    s.append(svg("path", {class: "axis", d: "M" + L + " " + y(v) + "H" + (W - 8)}));
    s.append(svg("text", {x: L - 6, y: y(v) + 4, "text-anchor": "end"}, count(Math.round(v / per)) + "/s"));
  }
  for (let i = 0; i < n; i++) {
    let base = 0;
    for (const [name, v] of [["done", t.done[i]], ["dunno", t.dunno[i]], ["gone", t.gone[i]]]) {
      if (!v) continue;
      s.append(svg("rect", {class: name, x: x(i).toFixed(1), width: Math.max(0.6, x(1) - x(0) - 0.8).toFixed(1), y: y(base + v).toFixed(1), height: (y(base) - y(base + v)).toFixed(1)}));
      base += v;
    }
  }
  const ticks = narrow ? 3 : 5;
  for (let i = 0; i <= ticks; i++)
    s.append(svg("text", {x: L + wide * i / ticks, y: HT - 8, "text-anchor": i === ticks ? "end" : i ? "middle" : "start"}, i ? seconds(span * i / ticks / 1e9) : "0"));
  let label = -1e9;
  for (const e of ev) {
    if (ENDS.includes(e.event)) continue;
    const px = at(e.time);
    s.append(svg("path", {class: "fault", d: "M" + px + " " + top + "V" + foot}));
    const word = (e.where ? e.where + " " : "") + e.event;
    if (px - label > 10 + word.length * 7) { s.append(svg("text", {class: "flabel", x: px, y: 14, "text-anchor": "middle"}, word)); label = px; }
  }
  if (strip) drawMarks(s, marked, at, foot, top, L);
  const sum = k => t[k].reduce((p, q) => p + q, 0);
  const sample = k => svg("svg", {width: 14, height: 10, class: "chart", style: "display:inline-block;width:14px"}, svg("rect", {class: k, width: 12, height: 10}));
  const key = (k, word) => sum(k) ? el("span", {}, sample(k), count(sum(k)) + " " + word) : "";
  return el("div", {}, el("h3", {}, "Transactions a second" + (strip ? ", and when each anomaly was" : "")), s,
    el("div", {class: "legend"}, key("done", "committed"), key("gone", "aborted"), key("dunno", "with unknown outcome"),
      ev.length ? el("span", {}, sample("outage"), "until the server answered again") : ""));
}

/* One mark for each anomaly below the chart, as long as its transactions took; the one
 * that is shown has a band through the chart, with a line for each transaction. */
function drawMarks(s, marked, at, foot, top, L) {
  s.append(svg("text", {x: L - 6, y: foot + 15, "text-anchor": "end"}, "anomalies"));
  for (const [a, i] of marked) {
    const from = at(a.span[0]), wide = Math.max(4, at(a.span[1]) - from), on = i === state.anomaly;
    const mark = svg("rect", {class: "mark" + (a.beyond ? " beyond" : "") + (on ? " on" : ""), "data-mark": i, x: (from + Math.min(0, (at(a.span[1]) - from - 4) / 2)).toFixed(1),
      y: foot + (on ? 3 : 5), width: wide.toFixed(1), height: on ? 16 : 12, rx: 2});
    hover(mark, () => [el("b", {}, a.name), " " + (a.moments || moment(a.span[0]) + " to " + moment(a.span[1]))]);
    mark.addEventListener("click", () => show(state.history, i));
    s.append(mark);
    if (!on) continue;
    s.append(svg("rect", {class: "band", x: from.toFixed(1), y: top, width: Math.max(1, at(a.span[1]) - from).toFixed(1), height: foot - top}));
    for (const t of a.txns) if (t.at && (t.on || t.named))
      s.append(svg("path", {class: "moment", "data-moment": t.id, d: "M" + at(t.at[0]).toFixed(1) + " " + (top + 6) + "V" + foot}));
  }
}

function drawCost() {
  const h = H();
  if (h.error || !h.stages) { $("cost").replaceChildren(); return; }
  const rows = h.stages.filter(s => s.s > 0 || s.rss);
  const most = Math.max(1e-9, ...rows.map(s => s.s));
  const table = el("table", {class: "stages"}, el("tr", {}, el("th", {}, "stage"), el("th", {}, "time"), el("th", {class: "bar"}), el("th", {}, "highest memory so far")));
  for (const s of rows)
    table.append(el("tr", {}, el("td", {}, s.name), el("td", {}, seconds(s.s)),
      el("td", {class: "bar"}, el("div", {style: "width:" + (100 * s.s / most).toFixed(1) + "%"})), el("td", {}, s.rss ? bytes(s.rss) : "")));
  $("cost").replaceChildren(el("div", {class: "panel"}, el("h2", {}, "Time and memory of the check"),
    h.peak ? el("p", {class: "facts"}, "at most " + bytes(h.peak) + " resident") : "", table));
}

/* ---- everything together ---- */

function show(history, anomaly) {
  const other = history !== state.history;
  state.history = history;
  state.anomaly = anomaly;
  state.branch = 0;
  state.zoom = 1;
  state.open.clear();
  state.full.clear();
  if (other) drawAll(); else { drawStage(); drawRun(); Pictures.pick(anomaly); }
  rememberPlace();
}

/* Whom to show first: nobody when all there is goes beyond a promise that was kept. */
const first = h => h.anomalies && h.anomalies.length && h.anomalies.every(a => a.beyond) ? -1 : Math.max(0, (h.anomalies || []).findIndex(a => !a.beyond));

function rememberPlace() {
  try { history.replaceState(null, "", "#" + (state.history + 1) + "." + (state.anomaly + 1)); } catch (e) { /* not allowed here */ }
}

function drawAll() {
  drawTop();
  drawLadder();
  drawList();
  drawStage();
  drawRun();
  drawPictures();
  drawCost();
}

function drawPictures() {
  const h = H(), ev = (h.events || []).map(([time, event, where]) => ({time, event, where}));
  const end = h.time ? h.time.start + h.time.span : 0;
  Pictures.draw($("pictures"), {h, anomaly: state.anomaly, bands: outages(ev, Math.max(end, ...ev.map(e => e.time)))});
}

function step(by) {
  const h = H();
  if (!h.anomalies || !h.anomalies.length) return;
  const order = [...$("list").querySelectorAll("button")].map(b => +b.dataset.i);
  const at = order.indexOf(state.anomaly);
  const next = order[Math.min(order.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  show(state.history, next);
  const b = $("list").querySelector('[data-i="' + next + '"]');
  if (b) { b.focus({preventScroll: true}); b.scrollIntoView({block: "nearest"}); }
}

addEventListener("keydown", ev => {
  if (ev.ctrlKey || ev.metaKey || ev.altKey || /^(SELECT|INPUT|CANVAS)$/.test(ev.target.tagName)) return;
  const inList = ev.target.closest && ev.target.closest("nav");
  if (ev.key === "j" || (inList && ev.key === "ArrowDown")) { ev.preventDefault(); step(1); }
  else if (ev.key === "k" || (inList && ev.key === "ArrowUp")) { ev.preventDefault(); step(-1); }
  else if (ev.key === "e" && A()) toggleAll();
  else if (A() && "+=-0".includes(ev.key)) zoom(ev.key === "0" ? 0 : ev.key === "-" ? 1 / 1.3 : 1.3);
  else if (ev.key === "Escape" && state.open.size) { state.open.clear(); drawStage(); hideTip(); }
});

let pending = 0;
addEventListener("resize", () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(() => { drawStage(); drawRun(); Pictures.redraw(); }); });
addEventListener("beforeprint", () => { if (A() && !state.open.size) toggleAll(); });

state.anomaly = first(H());
const hash = /^#(\d+)\.(\d+)$/.exec(location.hash);
if (hash && D.histories[hash[1] - 1]) {
  state.history = hash[1] - 1;
  state.anomaly = first(H());
  if ((H().anomalies || [])[hash[2] - 1]) state.anomaly = hash[2] - 1;
}
$("foot").replaceChildren(el("p", {}, "insula " + D.insula + ". "),
  el("p", {class: "keys"}, el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " next and previous anomaly, ", el("kbd", {}, "Tab"), " to an edge, ",
    el("kbd", {}, "Enter"), " to see why it holds, ", el("kbd", {}, "e"), " explain all, ", el("kbd", {}, "+"), " ", el("kbd", {}, "−"), " ", el("kbd", {}, "0"), " zoom and fit, ", el("kbd", {}, "Esc"), " fold."));
drawAll();
})();
