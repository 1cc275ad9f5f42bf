/* The page of `insula serve`: the list of runs, and what only a server can do. */
(() => {
const D = JSON.parse($("data").textContent);
if (!D.serve) return;
let about = null, poll = 0;
const live = {job: 0, offset: 0, points: [], lines: [], stage: null, run: "", state: null, files: []};

async function ask(path, options = {}) {
  const r = await fetch(path, {...options, headers: options.method ? {"X-Insula": "1"} : {}});
  const text = await r.text();
  let body = {};
  try { body = JSON.parse(text); } catch { /* no JSON: the status says enough */ }
  if (!r.ok) throw new Error(body.error || "The server answered " + r.status + ".");
  return body;
}

function complain(e) {
  const box = $("trouble");
  if (!box) return;
  box.hidden = false;
  box.textContent = e.message || String(e);
}
const trouble = () => el("p", {class: "note bad", id: "trouble", role: "alert", hidden: true});
const back = () => el("p", {class: "back"}, el("a", {href: "#"}, "← all runs"));
const top = (what, title) => { $("top").replaceChildren(el("div", {class: "brand"}, el("b", {}, "insula"), el("span", {}, what)), el("h1", {}, title)); document.title = "insula: " + title; };

/* ---- checking a file ---- */

function pickFile() {
  const input = el("input", {type: "file", id: "file", "aria-label": "History", onchange: e => { if (e.target.files[0]) upload(e.target.files[0]); }});
  return el("label", {class: "drop", id: "drop"}, el("b", {}, "Drop a history here"), el("span", {class: "soft"}, "or choose a file: any format that insula reads, also .gz and .zst" + (about ? ", up to " + bytes(about.upload_limit) : "")), input);
}

function drawCheck() {
  top("check", "Check a history");
  $("view").replaceChildren(back(), trouble(), pickFile(), el("progress", {id: "sent", max: 1, value: 0, hidden: true, "aria-label": "Sent"}));
}

function upload(file) {
  if (!$("sent")) drawCheck();
  if (about && file.size > about.upload_limit) { complain(new Error(file.name + " has " + bytes(file.size) + "; the limit is " + bytes(about.upload_limit) + ".")); return; }
  const x = new XMLHttpRequest(), sent = $("sent");
  sent.hidden = false;
  x.open("POST", "api/check?name=" + encodeURIComponent(file.name));
  x.setRequestHeader("X-Insula", "1");
  x.upload.onprogress = e => { if (e.lengthComputable) sent.value = e.loaded / e.total; };
  x.onload = () => {
    let body = {};
    try { body = JSON.parse(x.responseText); } catch { /* below */ }
    sent.hidden = true;
    if (x.status === 201) location.hash = "job=" + body.job;
    else complain(new Error(body.error || "The server answered " + x.status + "."));
  };
  x.onerror = () => { sent.hidden = true; complain(new Error("The server ended the connection: the file is too large, or the server has gone.")); };
  x.send(file);
}

/* ---- a form that shows its command line ---- */

const FIELDS = {
  test: [["db", "Database"], ["isolation", "Isolation"], ["workload", "Workload"], ["nemesis", "Faults"], ["sessions", "Sessions", "10"], ["time-limit", "Seconds", ""], ["txns", "Transactions", "10000"], ["keys", "Keys", ""], ["ops", "Operations of a transaction", "8"], ["rate", "Transactions a second", "no limit"], ["level", "Levels", "all"], ["seed", "Seed", "by chance"], ["online", "Verdicts"], ["keep-going", "After a violation"]],
  hunt: [["db", "Database"], ["isolation", "Isolation"], ["nemesis", "Faults"], ["budget", "How long", "10m"], ["until", "Until"], ["seed", "Seed", "by chance"], ["online", "Verdicts"]],
  watch: [["file", "File of the store"], ["level", "Levels", "all"], ["format", "Format"], ["keep", "Transactions to keep", "1000000"], ["keep-going", "After a violation"], ["final", "At the end of the file"], ["repeats", "Values"]]};
const form = {kind: "test", test: {"db": "sqlite:", "time-limit": "10", "online": "yes"}, hunt: {"db": "sqlite:", "budget": "2m"}, watch: {}};
const TITLES = {test: "Test: record and check", hunt: "Hunt: look for anomalies", watch: "Watch: follow a file"};
/* Options without a value: what it means to leave them out, and to give them. */
const FLAGS = {"online": ["at the end", "also while it records"], "keep-going": ["stop", "report it and go on"], "final": ["wait for more", "stop and decide what is open"], "repeats": ["each is written once", "may be written again"]};

const firstWord = line => line.split(/\s/)[0];
function choices(name) {
  if (name === "isolation") return about.isolations;
  if (name === "workload") return about.workloads.map(firstWord);
  if (name === "until") return ["budget", "found"];
  if (name === "format") return ["insula", "edn", "json"];
  if (name === "file") return live.files.map(f => f.file);
  return null;
}
const SUGGEST = {db: () => about.databases.map(l => /^[a-z]*:?/.exec(l)[0]).filter(d => /^(sqlite|postgres|mariadb|galera):$/.test(d)).concat(["postgres:?standbys=1"]), nemesis: () => about.faults};

function shellWord(w) { return /^[\w@%+=:,./-]+$/.test(w) ? w : "'" + w.replace(/'/g, "'\\''") + "'"; }
function commandLine() {
  const given = Object.entries(form[form.kind]).filter(([k, v]) => v && k !== "file");
  const file = form.kind === "watch" ? [form.watch.file ? about.store + "/" + form.watch.file : "FILE"] : [];
  return ["insula", form.kind, ...given.map(([k, v]) => "--" + k + (FLAGS[k] ? "" : "=" + v)), ...file].map(shellWord).join(" ");
}

function field([name, label, hint]) {
  const set = e => { form[form.kind][name] = e.target.value.trim(); $("command").textContent = commandLine(); };
  const list = choices(name), now = form[form.kind][name] || "", flag = FLAGS[name];
  const select = (...options) => el("label", {class: "field"}, el("span", {}, label), el("select", {id: "f-" + name, onchange: set}, ...options));
  if (flag) return select(el("option", {value: ""}, flag[0]), el("option", {value: "yes", selected: now === "yes"}, flag[1]));
  if (list) return select(el("option", {value: ""}, name !== "file" ? "as it is by default" : list.length ? "choose one" : "there is none yet"), ...list.map(v => el("option", {value: v, selected: v === now}, v)));
  const more = SUGGEST[name] ? el("datalist", {id: "d-" + name}, ...SUGGEST[name]().map(v => el("option", {value: v}))) : "";
  return el("label", {class: "field"}, el("span", {}, label), el("input", {id: "f-" + name, value: now, placeholder: hint || "", list: SUGGEST[name] ? "d-" + name : null, autocomplete: "off", spellcheck: "false", oninput: set}), more);
}

function drawForm() {
  top("start", "Start a test, a hunt or a watch");
  if (!about) { $("view").replaceChildren(back()); return; }
  const tab = (kind, text) => el("button", {class: "act" + (form.kind === kind ? " main" : ""), "aria-pressed": form.kind === kind ? "true" : "false", onclick: async () => { form.kind = kind; if (kind === "watch") await listFiles(); drawForm(); $("k-" + kind).focus(); }, id: "k-" + kind}, text);
  $("view").replaceChildren(back(), trouble(), el("div", {class: "panel"},
    el("div", {class: "bar"}, ...Object.entries(TITLES).map(([kind, text]) => tab(kind, text))),
    form.kind === "watch" ? el("p", {class: "soft"}, "A recorder writes a file in ", el("code", {}, about.store), ", and every transaction is judged as it arrives.") : "",
    el("div", {class: "fields"}, ...FIELDS[form.kind].map(field)),
    el("p", {class: "soft"}, "The same on the command line:"), el("pre", {class: "command", id: "command"}, commandLine()),
    el("button", {class: "act main", id: "go", onclick: start}, "Start")));
}

async function listFiles() {
  try { live.files = (await ask("api/files")).files; } catch (e) { complain(e); }
}

async function start() {
  try {
    const {file, ...options} = Object.fromEntries(Object.entries(form[form.kind]).filter(([, v]) => v));
    if (form.kind === "watch" && !file) throw new Error("Choose a file to follow.");
    const {job} = await ask("api/jobs", {method: "POST", body: JSON.stringify({kind: form.kind, file, options})});
    location.hash = "job=" + job;
  } catch (e) { complain(e); }
}

/* ---- following a job ---- */

function drawJobFrame(id) {
  Object.assign(live, {job: id, offset: 0, points: [], lines: [], stage: null, run: "", state: null});
  top("job " + id, "Starting");
  $("view").replaceChildren(back(), trouble(), el("div", {class: "panel"}, el("pre", {class: "command", id: "command"}),
    el("div", {class: "bar"}, el("span", {class: "chipline", id: "jobstate", role: "status"}), el("span", {class: "push"}), el("a", {class: "act main", id: "report", hidden: true}, "Report"), el("button", {class: "act stop", id: "stop", onclick: stop}, "Stop")),
    el("progress", {id: "share", "aria-label": "Progress", hidden: true}), el("ul", {id: "sofar", class: "sofar", "aria-label": "Verdicts so far", hidden: true}), el("div", {id: "figures", class: "figures"}), el("div", {id: "chart"})),
    el("div", {class: "panel", id: "saidbox", hidden: true}, el("h3", {}, "What it says"), el("pre", {id: "said", tabindex: "0"})));
}

async function stop() {
  try { await ask("api/jobs/" + live.job + "/stop", {method: "POST"}); $("stop").textContent = "Stop at once"; } catch (e) { complain(e); }
}

function takeLine(line) {
  if (line.startsWith("{")) {
    try {
      const p = JSON.parse(line);
      if (p.phase === "record" || p.phase === "watch") live.points.push(p); else live.stage = p;
      return;
    } catch { /* not ours */ }
  }
  const see = /^insula: see .*?([^/]+)\/report\.html$/.exec(line);
  if (see) live.run = see[1];
  if (line.trim()) live.lines.push(line);
}

async function follow(id) {
  if (live.job !== id || !$("jobstate")) return;
  try {
    const j = await ask("api/jobs/" + id + "?after=" + live.offset);
    if (live.job !== id || !$("jobstate")) return;
    live.offset = j.offset;
    live.state = j;
    if (j.kind === "check") live.run = j.run;
    for (const line of j.text.split("\n")) takeLine(line);
    drawJob();
    if (j.state === "ended" && !j.text) { finish(); return; }
  } catch (e) { complain(e); if (!live.state) return; }
  poll = setTimeout(() => follow(id), 400);
}

/* All transactions until then. */
const done = p => p.transactions === undefined ? p.committed + p.aborted + p.unknown : p.transactions;
const nameOf = j => j.kind === "check" || j.kind === "watch" ? j.kind[0].toUpperCase() + j.kind.slice(1) + " of " + j.name : j.kind[0].toUpperCase() + j.kind.slice(1);

/* "rc si! ser?": holds so far, violated, open. */
function drawSoFar(p) {
  const box = $("sofar");
  box.hidden = !p.so_far;
  if (!p.so_far) return;
  box.replaceChildren(...p.so_far.split(" ").filter(Boolean).map(word => {
    const kind = word.endsWith("!") ? "broken" : word.endsWith("?") ? "undecided" : "kept", say = {broken: "violated", undecided: "open", kept: "holds"}[kind];
    return el("li", {class: "vd " + kind}, el("b", {}, word.replace(/[!?]$/, "")), " " + say);
  }));
}

function figure(label, value) { return el("div", {class: "figure"}, el("b", {}, value), el("span", {}, label)); }

function drawJob() {
  const j = live.state, p = live.points[live.points.length - 1], q = live.points[Math.max(0, live.points.length - 6)];
  $("command").textContent = j.command.filter(w => !/^--((store|html|progress)=|$)/.test(w)).map(shellWord).join(" ");
  const running = j.state === "running", phase = !running ? "ended after " + seconds(j.seconds) : live.stage ? "checking: " + live.stage.stage : j.kind === "watch" ? "watching" : p ? "recording" : j.kind === "hunt" ? "hunting" : "starting";
  top("job " + j.job, nameOf(j) + (running ? " is running" : " has ended"));
  $("jobstate").textContent = phase[0].toUpperCase() + phase.slice(1) + (running ? ", " + seconds(j.seconds) : "") + (j.stops ? ", asked to stop" : "");
  $("stop").hidden = !running;
  const share = $("share"), st = live.stage;
  share.hidden = !running || !(st || (p && p.txns));
  if (st && st.total) { share.max = st.total; share.value = st.done; } else if (st) share.removeAttribute("value");
  else if (p && p.txns) { share.max = p.txns; share.value = done(p); }
  if (p) {
    const dn = done(p) - done(q), dt = p.seconds - q.seconds, rate = figure("transactions a second", dt > 0 ? count(Math.round(dn / dt)) : "–");
    $("figures").replaceChildren(rate, ...(p.phase === "watch" ? [figure("transactions", count(p.transactions)), figure("reads wait", count(p.waiting)), figure("read", bytes(p.bytes)), figure("memory", bytes(p.memory))]
      : [figure("mean latency", dn > 0 ? seconds((p.busy_s - q.busy_s) / dn) : "–"), figure("committed", count(p.committed)), figure("aborted", count(p.aborted)), figure("unknown", count(p.unknown)), figure("errors", count(p.errors)), figure("faults", count(p.faults))]),
      p.lag_s === undefined ? "" : figure("verdicts behind", seconds(p.lag_s)));
    drawSoFar(p);
    $("chart").replaceChildren(chart());
  }
  $("saidbox").hidden = !live.lines.length;
  const said = $("said"), atEnd = said.scrollTop + said.clientHeight >= said.scrollHeight - 20;
  said.textContent = live.lines.slice(-400).join("\n");
  if (atEnd) said.scrollTop = said.scrollHeight;
}

/* Rate as bars and mean latency as a line, over the time of the recording. */
function chart() {
  const pts = live.points, W = Math.max(280, Math.min(1000, innerWidth - 86)), H = 170, L = W < 600 ? 52 : 70, R = W < 600 ? 46 : 70, foot = H - 22, end = pts[pts.length - 1].seconds || 1;
  const s = svg("svg", {class: "live", viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": pts[0].busy_s === undefined ? "Transactions a second so far" : "Transactions a second and mean latency so far"});
  const n = Math.min(100, pts.length - 1), rows = [];
  for (let i = 1; i <= n; i++) {
    const a = pts[Math.floor((i - 1) * (pts.length - 1) / n)], b = pts[Math.floor(i * (pts.length - 1) / n)];
    const dt = b.seconds - a.seconds, dn = done(b) - done(a);
    rows.push({from: a.seconds, to: b.seconds, rate: dt > 0 ? dn / dt : 0, bad: dt > 0 && b.aborted !== undefined ? (b.aborted + b.unknown - a.aborted - a.unknown) / dt : 0, late: dn > 0 && b.busy_s !== undefined ? (b.busy_s - a.busy_s) / dn : 0, faults: b.faults - a.faults});
  }
  const most = Math.max(1, ...rows.map(r => r.rate)), slow = Math.max(1e-6, ...rows.map(r => r.late)), x = t => L + (W - L - R) * t / end, y = v => foot - (foot - 14) * v / most, z = v => foot - (foot - 14) * v / slow;
  for (const r of rows) {
    const w = Math.max(0.8, x(r.to) - x(r.from) - 1);
    s.append(svg("rect", {class: "done", x: x(r.from), y: y(r.rate), width: w, height: foot - y(r.rate)}));
    if (r.bad) s.append(svg("rect", {class: "gone", x: x(r.from), y: foot - (foot - y(r.bad)), width: w, height: foot - y(r.bad)}));
    if (r.faults) s.append(svg("path", {class: "fault", d: "M" + x(r.from) + " 10V" + foot}));
  }
  s.append(svg("path", {class: "late", d: rows.filter(r => r.late).map((r, i) => (i ? "L" : "M") + x((r.from + r.to) / 2).toFixed(1) + " " + z(r.late).toFixed(1)).join("")}));
  s.append(svg("path", {class: "axis", d: "M" + L + " " + foot + "H" + (W - R)}), svg("text", {x: L - 6, y: 18, "text-anchor": "end"}, count(Math.round(most)) + "/s"), svg("text", {x: W - R + 6, y: 18, class: "late"}, pts[0].busy_s === undefined ? "" : seconds(slow)),
    svg("text", {x: L, y: H - 6}, "0"), svg("text", {x: W - R, y: H - 6, "text-anchor": "end"}, seconds(end)));
  return s;
}

const ENDS = {0: ["kept", "Every level holds"], 1: ["broken", "Violated"], 2: ["undecided", "Some levels are open"]};

async function finish() {
  const j = live.state;
  if (j.kind === "watch" && ENDS[j.exit]) { $("jobstate").replaceChildren(el("span", {class: "vd " + ENDS[j.exit][0]}, ENDS[j.exit][1]), " after " + seconds(j.seconds)); return; }
  try {
    const {runs} = await ask("api/runs");
    insulaRuns.set(runs);
    const r = runs.find(x => x.run === live.run);
    if (!r || !$("report")) return;
    if (r.state === "checked") { $("report").hidden = false; $("report").href = encodeURIComponent(r.run) + "/report.html"; $("report").focus(); }
    const line = r.promise ? r.promise.line : r.error ? "Not checked: " + r.error : "Holds: " + (r.strongest.join(", ") || "no level");
    $("jobstate").replaceChildren(el("span", {class: "vd " + (r.promise ? r.promise.verdict : r.error ? "broken" : "")}, line), " " + Object.entries(r.counts || {}).map(([n, c]) => n + " × " + count(c)).join(", "));
  } catch (e) { complain(e); }
  if (j.exit === 3 && !live.lines.length && !$("report").href) complain(new Error("It ended without a result."));
}

/* ---- wired into the list ---- */

globalThis.insulaActions = () => [el("a", {class: "act", href: "#check", id: "tocheck"}, "Check a history"), el("a", {class: "act main", href: "#new", id: "tonew"}, "New run")];
globalThis.insulaRoute = hash => {
  clearTimeout(poll);
  live.job = 0;
  if (hash === "check") { drawCheck(); return true; }
  if (hash === "new") { drawForm(); if (form.kind === "watch") listFiles().then(() => { if (location.hash === "#new") drawForm(); }); return true; }
  const job = /^job=(\d+)$/.exec(hash);
  if (!job) { refresh(); return false; }
  drawJobFrame(+job[1]);
  follow(+job[1]);
  return true;
};

let fresh = "";
async function refresh() {
  try {
    const [{runs}, {jobs}] = await Promise.all([ask("api/runs"), ask("api/jobs")]);
    if (location.hash.length > 1 && !location.hash.startsWith("#compare=")) return;
    const now = JSON.stringify([runs, jobs.map(j => [j.job, j.state])]);
    if (now !== fresh) { fresh = now; insulaRuns.set(runs); insulaRuns.draw(); }
    const running = jobs.filter(j => j.state === "running");
    let box = $("running");
    if (running.length && !box && $("grid")) { box = el("p", {id: "running", class: "note"}); $("grid").before(box); }
    if (box) box.replaceChildren(...running.flatMap(j => [el("a", {href: "#job=" + j.job}, nameOf(j) + " is running, " + seconds(j.seconds)), " "]));
    if (box && !running.length) box.remove();
    if (running.length) poll = setTimeout(refresh, 2000);
  } catch (e) { if (!$("trouble")) $("view").prepend(trouble()); complain(e); }
}

for (const name of ["dragover", "drop"]) addEventListener(name, ev => {
  if (![...(ev.dataTransfer ? ev.dataTransfer.types : [])].includes("Files")) return;
  ev.preventDefault();
  if (name === "drop" && ev.dataTransfer.files[0]) { if (location.hash !== "#check") history.replaceState(null, "", "#check"); drawCheck(); upload(ev.dataTransfer.files[0]); }
});

(async () => {
  try { about = await ask("api/about"); insulaRuns.set((await ask("api/runs")).runs); } catch (e) { $("view").replaceChildren(trouble()); complain(e); return; }
  insulaRuns.draw();
})();
})();
