(() => {
const D = JSON.parse($("data").textContent);
const PAGE = 200;
const state = {text: "", verdict: "", db: "", sort: "started", up: false, shown: PAGE, picked: new Set()};
let runs = D.runs || [];

/* ---- what a run says ---- */

const promiseOf = r => (r.promise && r.promise.level) || "";
const verdictOf = r => (r.promise && r.promise.verdict) || r.state;
const total = r => r.outcomes ? r.outcomes.committed + r.outcomes.aborted + r.outcomes.indeterminate : 0;
const found = r => Object.entries(r.counts || {});
const nemesis = r => (r.options && r.options.nemesis) || "";
const family = r => (r.database || "").replace(/ [0-9].*/, "");
const when = r => (r.started || "").replace("T", " ").replace(/:\d\dZ$/, "");
const reportOf = r => encodeURIComponent(r.run) + "/report.html";

const COLUMNS = [
  ["started", "When", r => r.started || "", "when"],
  ["database", "Database", r => r.database || "", "db"],
  ["isolation", "Isolation", r => r.isolation || "", "iso"],
  ["promise", "Promise", verdictOf, "verdict"],
  ["strongest", "Strongest", r => (r.strongest || []).join(", "), "best"],
  ["found", "Anomalies", r => found(r).reduce((s, [, n]) => s + n, 0), "bad"],
  ["workload", "Workload", r => r.workload || "", "load"],
  ["nemesis", "Faults", nemesis, "nem"],
  ["txns", "Transactions", total, "num"],
  ["rate", "A second", r => r.rate_per_s || 0, "num"],
  ["p99", "99 % within", r => r.latency ? r.latency.committed.p99_s : 0, "num late"],
  ["seed", "Seed", r => r.seed || 0, "num late"],
];

function cellOf(r, id) {
  switch (id) {
  case "started": return r.state === "unfinished" ? when(r) || r.run : el("a", {href: reportOf(r)}, when(r) || r.run);
  case "database": return r.database || el("span", {class: "soft"}, r.name || "");
  case "txns": return total(r) ? count(total(r)) : "";
  case "rate": return r.rate_per_s ? count(Math.round(r.rate_per_s)) : "";
  case "p99": return r.latency && r.latency.committed.count ? seconds(r.latency.committed.p99_s) : "";
  case "promise": if (verdictOf(r) === "kept" && !promiseOf(r)) return el("span", {class: "soft", title: r.promise.line}, "none");
    return el("span", {class: "vd " + verdictOf(r), title: (r.promise && r.promise.line) || r.error || null},
    promiseOf(r) ? el("bdi", {}, promiseOf(r)) : "", promiseOf(r) ? " " : "", verdictOf(r));
  case "found": {
    const all = found(r).map(([name, n]) => name + (n > 1 ? " × " + count(n) : ""));
    return el("span", {title: all.join(", ")}, all.slice(0, 1).join("") + (all.length > 1 ? " and " + (all.length - 1) + " more" : ""));
  }
  default: return String(COLUMNS.find(c => c[0] === id)[2](r) || "");
  }
}

/* ---- the list ---- */

function matching() {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = r => [r.run, r.name, r.database, r.isolation, r.workload, nemesis(r), r.seed, verdictOf(r), promiseOf(r),
    (r.strongest || []).join(" "), found(r).map(([n]) => n).join(" "), (r.command || []).join(" ")].join(" ").toLowerCase();
  const column = COLUMNS.find(c => c[0] === state.sort), key = column[2], way = state.up ? 1 : -1;
  return runs.filter(r => (!state.verdict || verdictOf(r) === state.verdict) && (!state.db || family(r) === state.db) &&
      (!words.length || words.every(w => text(r).includes(w))))
    .map((r, i) => [r, key(r), i]).sort((p, q) => (p[1] < q[1] ? -way : p[1] > q[1] ? way : p[2] - q[2])).map(p => p[0]);
}

function headline() {
  const broken = runs.filter(r => verdictOf(r) === "broken").length;
  const n = D.total === undefined ? runs.length : D.total;
  if (!n) return "No runs yet";
  return count(n) + (n === 1 ? " run" : " runs") + (broken ? ", " + count(broken) + " with a broken promise" : ", every promise kept".slice(0, runs.every(r => verdictOf(r) === "kept") ? undefined : 0));
}

function drawTop() {
  $("top").replaceChildren(el("div", {class: "brand"}, el("b", {}, "insula"), el("span", {}, "runs")),
    el("h1", {}, headline()));
  document.title = "insula: " + headline();
}

function option(value, text, now) { return el("option", {value, selected: value === now}, text); }

function bar() {
  const families = [...new Set(runs.map(family).filter(Boolean))].sort();
  const redraw = () => { state.shown = PAGE; drawTable(); };
  return el("div", {class: "bar"},
    el("input", {type: "search", id: "search", placeholder: "Search", "aria-label": "Search", value: state.text, oninput: e => { state.text = e.target.value; redraw(); }}),
    el("select", {"aria-label": "Verdict", id: "byverdict", onchange: e => { state.verdict = e.target.value; redraw(); }},
      option("", "Any verdict", state.verdict), ...["kept", "broken", "undecided", "unchecked", "unfinished"].map(v => option(v, v[0].toUpperCase() + v.slice(1), state.verdict))),
    families.length > 1 ? el("select", {"aria-label": "Database", id: "bydb", onchange: e => { state.db = e.target.value; redraw(); }},
      option("", "Any database", state.db), ...families.map(f => option(f, f, state.db))) : "",
    el("button", {class: "act", id: "compare", disabled: true, onclick: () => { location.hash = "compare=" + [...state.picked].join(","); }}, "Compare"),
    el("span", {class: "push"}), ...(globalThis.insulaActions ? globalThis.insulaActions() : []));
}

/* Every run a bar, the oldest first: how fast it was, and whether the promise held. */
function strip() {
  const timed = [...runs].reverse().filter(r => r.rate_per_s).slice(-240);
  if (timed.length < 12) return "";
  const most = Math.max(...timed.map(r => r.rate_per_s)), W = 1000, w = Math.min(12, W / timed.length);
  const s = svg("svg", {class: "strip", viewBox: "0 0 " + W + " 46", preserveAspectRatio: "none", role: "img",
    "aria-label": "Transactions a second of the last " + timed.length + " runs"});
  timed.forEach((r, i) => {
    const h = 4 + 42 * Math.sqrt(r.rate_per_s / most);
    const b = svg("rect", {class: verdictOf(r), x: (i * w + w * 0.12).toFixed(2), width: (w * 0.76).toFixed(2), y: (46 - h).toFixed(1), height: h.toFixed(1)});
    hover(b, () => [el("b", {}, when(r)), " " + r.database + ", " + r.isolation + ": " + count(Math.round(r.rate_per_s)) + " transactions a second, " + verdictOf(r)]);
    s.append(b);
  });
  return s;
}

function pickBox(r) {
  return el("input", {type: "checkbox", "aria-label": "Compare " + r.run, checked: state.picked.has(r.run) ? true : null, onchange: e => {
    if (e.target.checked) state.picked.add(r.run); else state.picked.delete(r.run);
    drawCompareButton();
  }});
}

function drawCompareButton() {
  const b = $("compare"), n = state.picked.size;
  if (!b) return;
  b.disabled = n < 2;
  b.textContent = n < 2 ? "Compare" : "Compare " + n + " runs";
}

function drawTable() {
  const all = matching(), box = $("grid");
  if (!all.length) {
    box.replaceChildren(runs.length ? el("p", {class: "empty"}, "No run matches.")
      : el("p", {class: "empty"}, "Runs appear here after ", el("code", {}, "insula test"), "."));
    return;
  }
  const head = el("tr", {}, el("th", {}, el("span", {class: "soft"}, "")));
  const shown = COLUMNS.filter(([id, , key]) => !["nemesis", "workload", "strongest", "found"].includes(id) || runs.some(key));
  for (const [id, name, , kind] of shown)
    head.append(el("th", {class: kind.startsWith("num") ? kind : null, scope: "col", "aria-sort": state.sort === id ? (state.up ? "ascending" : "descending") : null},
      el("button", {onclick: () => { state.up = state.sort === id ? !state.up : false; state.sort = id; drawTable(); }}, name)));
  const body = el("tbody");
  for (const r of all.slice(0, state.shown))
    body.append(el("tr", {"data-run": r.run}, el("td", {class: "pick"}, r.state === "checked" ? pickBox(r) : ""),
      ...shown.map(([id, , , kind]) => el("td", {class: kind + (id === "found" && verdictOf(r) !== "kept" ? " found" : "")}, cellOf(r, id)))));
  const kids = [el("table", {class: "runs list"}, el("thead", {}, head), body)];
  if (all.length > state.shown)
    kids.push(el("p", {class: "morerow"}, el("button", {class: "act", id: "more", onclick: () => { state.shown += 5 * PAGE; drawTable(); }},
      "Show more: " + count(all.length - state.shown) + " are left")));
  else if (D.total > runs.length)
    kids.push(el("p", {class: "morerow soft"}, "The latest " + count(runs.length) + " of " + count(D.total) + " are here; ", el("code", {}, "insula runs"), " lists all."));
  box.replaceChildren(...kids);
  drawCompareButton();
}

function drawList() {
  drawTop();
  $("view").replaceChildren(runs.length ? bar() : el("div", {class: "bar"}, el("span", {class: "push"}), ...(globalThis.insulaActions ? globalThis.insulaActions() : [])), strip(), el("div", {class: "grid", id: "grid"}));
  drawTable();
}

/* ---- side by side ---- */

const ms = x => x === undefined ? "" : seconds(x);
function rowsOf(some) {
  const rows = [], add = (group, name, pick, always) => {
    const values = some.map(r => { const v = pick(r); return v === undefined || v === null ? "" : String(v); });
    const differs = values.some(v => v !== values[0]);
    if (always || differs) rows.push({group, name, values, differs});
  };
  const names = pick => [...new Set(some.flatMap(r => Object.keys(pick(r) || {})))];
  for (const [n, f] of [["started", when], ["database", r => r.database], ["isolation", r => r.isolation], ["server isolation", r => r.server_isolation], ["workload", r => r.workload], ["seed", r => r.seed], ["command", r => (r.command || []).join(" ")]])
    add("How they were made", n, f, true);
  for (const n of names(r => r.options)) if (!["isolation", "workload"].includes(n)) add("How they were made", n, r => (r.options || {})[n]);
  for (const n of names(r => r.settings)) add("How they were made", n, r => (r.settings || {})[n]);
  for (const n of ["committed", "aborted", "indeterminate", "errors"]) add("What happened", n, r => r.outcomes && count(r.outcomes[n]), true);
  add("What happened", "duration", r => ms(r.duration_s), true);
  add("What happened", "transactions a second", r => r.rate_per_s !== undefined ? count(Math.round(r.rate_per_s)) : "", true);
  for (const [n, k] of [["latency, middle", "p50_s"], ["latency, 95 %", "p95_s"], ["latency, 99 %", "p99_s"], ["latency, most", "max_s"]])
    add("What happened", n, r => r.latency && ms(r.latency.committed[k]), true);
  add("Verdicts", "promise", r => (promiseOf(r) + " " + verdictOf(r)).trim(), true);
  for (const n of names(r => r.levels)) add("Verdicts", n, r => (r.levels || {})[n], true);
  for (const n of names(r => r.counts)) add("Anomalies", n, r => count((r.counts || {})[n] || 0), true);
  return rows;
}

function drawCompare(ids) {
  const some = ids.map(id => runs.find(r => r.run === id)).filter(Boolean);
  $("top").replaceChildren(el("div", {class: "brand"}, el("b", {}, "insula"), el("span", {}, "compare")), el("h1", {}, count(some.length) + " runs side by side"));
  document.title = "insula: compare";
  const table = el("table", {class: "runs compare"}, el("thead", {}, el("tr", {}, el("th", {}, ""), ...some.map(r => el("th", {scope: "col"}, el("a", {href: reportOf(r)}, r.run))))));
  const body = el("tbody");
  let group = "";
  for (const row of rowsOf(some)) {
    if (row.group !== group) body.append(el("tr", {class: "group"}, el("td", {colspan: some.length + 1}, row.group)));
    group = row.group;
    body.append(el("tr", {class: row.differs ? "differs" : null}, el("td", {}, row.name), ...row.values.map(v =>
      el("td", {}, /^(fail|.*broken)$/.test(v) ? el("span", {class: "vd broken"}, v) : /^(pass|.*kept)$/.test(v) ? el("span", {class: "vd kept"}, v) : v))));
  }
  table.append(body);
  $("view").replaceChildren(el("p", {class: "back"}, el("a", {href: "#"}, "← all runs")), el("div", {class: "grid"}, table),
    el("p", {class: "facts"}, "Shaded lines differ; options that are the same are left out."));
}

/* ---- everything together ---- */

function route() {
  hideTip();
  const hash = decodeURIComponent(location.hash.slice(1));
  let listed = false;
  if (hash.startsWith("compare=")) drawCompare(hash.slice(8).split(","));
  else if (!(globalThis.insulaRoute && globalThis.insulaRoute(hash))) { drawList(); listed = runs.length > 0; }
  drawKeys(listed);
  scrollTo(0, 0);
}

function drawKeys(listed) {
  const key = (name, what) => [el("kbd", {}, name), " " + what];
  $("foot").replaceChildren(el("p", {class: "keys"}, ...(listed ? [...key("/", "search, "), ...key("Space", "pick a run, "), ...key("c", "compare")] : location.hash.length > 1 ? key("Esc", "back to all runs") : [])));
}

globalThis.insulaRuns = {set: list => { runs = list; D.total = list.length; }, get: () => runs, draw: route};

addEventListener("hashchange", route);
addEventListener("keydown", ev => {
  if (ev.ctrlKey || ev.metaKey || ev.altKey || /^(SELECT|INPUT|TEXTAREA)$/.test(ev.target.tagName)) return;
  if (ev.key === "/" && $("search")) { ev.preventDefault(); $("search").focus(); }
  else if (ev.key === "c" && state.picked.size > 1 && $("compare")) $("compare").click();
  else if (ev.key === "Escape" && location.hash) location.hash = "";
});
if (!D.serve) route();
})();
