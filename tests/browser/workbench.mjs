// Uses stores of runs, the pictures in reports and `insula serve` like a reader would, and
// attacks the server.  Usage: workbench.mjs INSULA HERE.  Prints TAP.
import { createRequire } from "node:module";
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const require = createRequire(resolve("package.json"));
const { chromium } = require("playwright-core");
const [insula] = process.argv.slice(2);
mkdirSync("screenshots", { recursive: true });

let number = 0, failed = 0;
function ok(holds, what, more = "") {
  console.log((holds ? "ok " : "not ok ") + ++number + " - " + what);
  if (!holds) { failed++; console.log("# " + String(more).replace(/\n/g, "\n# ")); }
}
const same = (a, b, what) => ok(JSON.stringify(a) === JSON.stringify(b), what, JSON.stringify(a) + " is not " + JSON.stringify(b));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

async function open(url, { width = 1280, height = 900, dark = false, touch = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", hasTouch: touch });
  const page = await context.newPage();
  page.said = [];
  page.asked = [];
  page.on("console", m => { if (m.type() === "error" || m.type() === "warning") page.said.push(m.text()); });
  page.on("pageerror", e => page.said.push(e.message));
  page.on("request", r => { if (!/^(file|data|blob):/.test(r.url()) && !r.url().startsWith(page.home || "file:")) page.asked.push(r.url()); });
  page.home = /^http/.test(url) ? new URL(url).origin + "/" : undefined;
  await page.goto(url);
  return page;
}
const file = path => "file://" + resolve(path);
const quiet = (page, where) => { same(page.said, [], "nothing was complained about: " + where); same(page.asked, [], "nothing was asked of another host: " + where); };
// Until a text of the page is so; functions that wait in the page would need eval.
async function until(page, where, so) {
  for (let i = 0; i < 300 && !so(await page.textContent(where)); i++) await page.waitForTimeout(200);
  return page.textContent(where);
}
const fits = async (page, where) => { const w = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]); ok(w[0] <= w[1], "no sideways scrolling: " + where, w); };
// Everything that can be used has a name for those who do not see it.
async function named(page, where) {
  const bare = await page.$$eval("button, a[href], input, select, canvas, [role=button], svg[role=img]", all => all.filter(e => {
    if (!e.getClientRects().length) return false;
    const label = e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length && e.labels[0].textContent.trim()) || e.title;
    return !label;
  }).map(e => e.outerHTML.slice(0, 100)));
  same(bare, [], "every control has a name: " + where);
}

// ---- stores of 0, 3 and 500 runs ----

function many(dir, n) {
  const model = JSON.parse(readFileSync("three/latest/result.json", "utf8"));
  for (let i = 0; i < n; i++) {
    const h = structuredClone(model.histories[0]), day = String(1 + i % 28).padStart(2, "0"), month = String(1 + Math.floor(i / 28) % 12).padStart(2, "0"), broken = i % 7 === 3;
    h.started = `2026-${month}-${day}T10:00:${String(i % 60).padStart(2, "0")}Z`;
    h.database = ["PostgreSQL 15.1", "MariaDB 10.11", "SQLite 3.40.1"][i % 3];
    h.promise = { verdict: broken ? "broken" : "kept", level: "ser", line: "x", source: "y" };
    h.counts = broken ? { "G2-item": i + 1 } : {};
    h.anomalies = [];
    h.rate_per_s = 1000 + 37 * (i % 50);
    h.seed = i;
    const at = `${dir}/run-${i}`;
    mkdirSync(at, { recursive: true });
    writeFileSync(at + "/result.json", JSON.stringify({ insula: model.insula, histories: [h] }));
    writeFileSync(at + "/log.jsonl", "");
  }
  // What others wrote is text, whatever it looks like.
  const evil = "<img src=x onerror=\"document.title='hacked'\"></script><script>document.title='hacked'</script>\u202e\u0007";
  mkdirSync(dir + "/evil-1", { recursive: true });
  writeFileSync(dir + "/evil-1/result.json", JSON.stringify({ insula: "0", histories: [{ database: evil, isolation: evil, workload: evil, seed: 1, started: "2027-01-01T00:00:00Z", options: { nemesis: evil }, counts: { [evil]: 1 }, strongest: [evil], levels: [], promise: { verdict: "broken", level: evil, line: evil } }] }));
  writeFileSync(dir + "/evil-1/log.jsonl", "");
}

const none = await open(file("empty/index.html"));
ok((await none.textContent("h1")).includes("No runs"), "a store without runs says so");
quiet(none, "no runs");
const three = await open(file("three/index.html"));
same(await three.$$eval("tbody tr", all => all.length), 3, "three runs are three rows");
await named(three, "list");
await three.keyboard.press("/");
await three.keyboard.type("read-uncommitted");
same(await three.$$eval("tbody tr", all => all.length), 1, "search by the keyboard");
await three.fill("#search", "");
for (const box of await three.$$("tbody input")) { await box.focus(); await three.keyboard.press("Space"); }
await three.evaluate(() => document.activeElement.blur());
await three.keyboard.press("c");
await three.waitForSelector("table.compare");
same(await three.$$eval("table.compare thead th", all => all.length), 4, "three runs side by side");
ok(await three.$$eval("tr.differs td:first-child", all => all.some(t => t.textContent === "isolation")), "what differs is marked");
await three.keyboard.press("Escape");
await three.waitForSelector("table.list");
quiet(three, "three runs");
await three.click("tbody tr:first-child a");
await three.waitForSelector("#pictures[data-ready]");
ok((await three.textContent("h1")).startsWith("Promise") || (await three.textContent("h1")).startsWith("Nothing"), "a row leads to its report");

// An anomaly of a real run: what else was done to its keys.
const real = await open(file("three/" + readdirSync("three").filter(d => /^sqlite/.test(d)).sort().pop() + "/report.html"));
await real.waitForSelector("#pictures[data-ready]");
for (let i = 0; i < 40 && !(await real.$("details.others")); i++) await real.keyboard.press("j");
await real.focus("details.others summary");
await real.keyboard.press("Enter");
ok(await real.$eval("details.others", d => d.open && /Who else wrote.*nearest to these: .*t?\d+/.test(d.textContent)), "who else wrote the keys of an anomaly", await real.textContent("details.others"));
quiet(real, "a report of a run");

many("many", 500);
const rm = spawn(insula, ["test", "-q", "--txns", "50", "--store", "many"]);
await new Promise(r => rm.on("close", r));
const hundreds = await open(file("many/index.html"));
ok((await hundreds.textContent("h1")).includes("502 runs"), "five hundred runs are counted", await hundreds.textContent("h1"));
same(await hundreds.title() !== "hacked" && await hundreds.$$eval("img", all => all.length), 0, "markup in names stays text");
await hundreds.selectOption("#byverdict", "broken");
same(await hundreds.$$eval("tbody tr", all => all.length), 71 + 1, "filtered by verdict");
await hundreds.selectOption("#byverdict", "");
await hundreds.click("#more");
same(await hundreds.$$eval("tbody tr", all => all.length), 502, "the rest is shown when asked for");
await hundreds.click("th button:text('A second')");
ok(await hundreds.$eval("th[aria-sort]", th => th.textContent) === "A second", "sorted by a column");
quiet(hundreds, "500 runs");
await hundreds.screenshot({ path: "screenshots/runs.png" });
for (const dark of [false, true]) {
  const small = await open(file("many/index.html"), { width: 390, height: 844, dark });
  await fits(small, "list on a phone" + (dark ? ", dark" : ""));
  await small.screenshot({ path: "screenshots/runs-phone" + (dark ? "-dark" : "") + ".png" });
}

// ---- pictures ----

const fork = await open(file("fork.html"));
await fork.waitForSelector("#pictures[data-ready]");
await named(fork, "report");
const seen = () => fork.evaluate(() => { const v = Pictures.view(); return [v.from, v.to]; });
const whole = await seen();
await fork.focus("#timeline");
for (const key of ["+", "+", "ArrowRight"]) await fork.keyboard.press(key);
const near = await seen();
ok(near[1] - near[0] < (whole[1] - whole[0]) / 2 && near[0] > whole[0], "the timeline zooms and pans by keys", [whole, near]);
await fork.keyboard.press("0");
same((await seen()).map(Math.round), whole.map(Math.round), "0 shows all of it");
await fork.keyboard.press("]");
ok(/t\d+.*session/.test(await fork.textContent("#beside")), "brackets step from transaction to transaction", await fork.textContent("#beside"));
const box = await (await fork.$("#timeline")).boundingBox();
await fork.mouse.move(box.x + 500, box.y + 60);
await fork.mouse.wheel(0, -600);
await fork.waitForTimeout(100);
const wheeled = await seen();
ok(wheeled[1] - wheeled[0] < whole[1] - whole[0], "the wheel zooms");
await fork.mouse.down();
await fork.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
await fork.mouse.up();
ok((await seen())[0] > wheeled[0], "dragging pans");
await fork.click("#ontimeline");
await fork.waitForTimeout(300);
const say = await fork.textContent("#beside");
ok(/^LongFork: .*t\d+.*Meanwhile [\d,]+ other transactions? of \d+ sessions? ran/.test(say), "from an anomaly one click to the timeline, with what ran meanwhile", say);
// The transactions of the anomaly are where the history says they are.
const placed = await fork.evaluate(() => {
  const a = JSON.parse(document.getElementById("data").textContent).histories[0].anomalies[0], d = Pictures.data();
  return a.txns.filter(t => t.at && t.at[1] !== null).map(t => Math.abs(d.start + d.begin[t.n - 1] * d.unit - t.at[0]) <= d.unit && Math.abs(d.start + d.end[t.n - 1] * d.unit - t.at[1]) <= d.unit);
});
ok(placed.length >= 2 && placed.every(Boolean), "times in the page are those of the history", placed);
const outcomes = await fork.evaluate(() => { const n = [0, 0, 0]; for (const f of Pictures.data().flags) n[f & 3]++; return n; });
ok(outcomes[0] + outcomes[1] + outcomes[2] === 4004 && outcomes[1] > 100 && outcomes[2] > 40, "with all outcomes", outcomes);
// A point of the latencies tells its transaction.
const spot = await fork.evaluate(() => { const c = document.getElementById("latency"); c.scrollIntoView({ block: "center" }); for (let y = 10; y < 220; y += 3) for (let x = 120; x < 700; x += 3) if (c.hit(x, y) >= 0) return [x, y]; });
const canvas = await (await fork.$("#latency")).boundingBox();
await fork.mouse.move(canvas.x + spot[0], canvas.y + spot[1]);
ok(/t\d+.*took/.test(await fork.textContent("#tip")), "hovering over a point tells its transaction");
const unfolded = await fork.$$eval(".box.folds", all => all.length);
if (unfolded) {
  const lines = () => fork.$eval(".box.folds", b => b.querySelectorAll(".o").length), before = await lines();
  await fork.focus(".box.folds");
  await fork.keyboard.press("Enter");
  ok(await lines() > before, "a transaction unfolds to all that it did");
}
ok((await fork.textContent("#look")).includes("Keys that are used most") && (await fork.textContent("#look")).includes("versions a read is behind"), "what the history looks like");
quiet(fork, "pictures");
await fork.screenshot({ path: "screenshots/report.png", fullPage: true });
for (const dark of [false, true]) {
  const small = await open(file("fork.html"), { width: 390, height: 844, dark, touch: true });
  await small.waitForSelector("#pictures[data-ready]");
  await fits(small, "report on a phone" + (dark ? ", dark" : ""));
  if (!dark) {
    // Two fingers that part zoom in; one that moves pans.
    const range = () => small.evaluate(() => { const v = Pictures.view(); return [v.from, v.to]; });
    await small.locator("#timeline").scrollIntoViewIfNeeded();
    const at = await small.locator("#timeline").boundingBox(), cdp = await small.context().newCDPSession(small), before = await range();
    const touch = (type, ...xs) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x: at.x + x, y: at.y + 60, id })) });
    await touch("touchStart", 150, 170);
    for (let d = 0; d <= 80; d += 20) await touch("touchMove", 150 - d, 170 + d);
    await touch("touchEnd");
    const pinched = await range();
    ok(pinched[1] - pinched[0] < (before[1] - before[0]) / 2, "two fingers zoom the timeline", [before, pinched]);
    await touch("touchStart", 200);
    for (let x = 200; x >= 100; x -= 20) await touch("touchMove", x);
    await touch("touchEnd");
    ok((await range())[0] > pinched[0], "one finger moves it", [pinched, await range()]);
  }
  quiet(small, "report on a phone");
  await small.screenshot({ path: "screenshots/report-phone" + (dark ? "-dark" : "") + ".png", fullPage: true });
}

ok(statSync("million.html").size < 4e6, "the page of a million transactions is under 4 MB", statSync("million.html").size);
let best = Infinity, redraw = Infinity;
for (let i = 0; i < 5 && best >= 1000; i++) {
  const page = await open(file("million.html"));
  best = Math.min(best, await page.evaluate(() => performance.getEntriesByType("navigation")[0].domComplete));
  await page.waitForSelector("#pictures[data-ready]");
  if (!i) {
    same(await page.evaluate(() => Pictures.data().n), 1000000, "all of them are in it");
    ok((await page.textContent("#timeline-say")).includes("drawn together"), "from afar they are drawn together");
    await page.focus("#timeline");
    for (let k = 0; k < 24; k++) await page.keyboard.press("+");
    await page.waitForTimeout(300);
    ok(!(await page.textContent("#timeline-say")).includes("drawn together"), "from near each is drawn", await page.textContent("#timeline-say"));
    quiet(page, "a million");
  }
  await page.close();
}
ok(best < 1000, "it opens in under a second", best + " ms");

// ---- serve ----

let server, home, port;
process.on("exit", () => { if (server) server.kill("SIGINT"); });
async function serve(...more) {
  server = spawn(insula, ["serve", "--store", "live", "--port", "0", "--upload-limit", "20M", "--memory-limit", "300M", ...more], { stdio: ["ignore", "pipe", "pipe"] });
  server.said = "";
  server.stderr.on("data", d => { server.said += d; });
  const line = await new Promise((yes, no) => { server.stdout.once("data", d => yes(String(d))); server.once("close", () => no(new Error("no server: " + server.said))); });
  home = line.trim();
  port = +new URL(home).port;
}
const ended = () => new Promise(r => { server.once("close", r); server.kill("SIGINT"); });
let hasServer = true;
try { await serve(); } catch (e) { hasServer = !String(e).includes("has no server") && !String(e).includes("libmicrohttpd"); if (hasServer) throw e; console.log("# " + e.message); }
if (!hasServer) { console.log("1.." + number); await browser.close(); process.exit(failed ? 1 : 0); }

const ask = (path, options = {}) => fetch(home + path.replace(/^\//, ""), { redirect: "manual", ...options });
const post = { method: "POST", headers: { "X-Insula": "1" } };
const status = async (path, options) => (await ask(path, options)).status;
// A request as it is written, for what fetch would tidy up.
const raw = text => new Promise(done => {
  const s = connect(port, "127.0.0.1");
  let all = "";
  s.on("data", d => { all += d; });
  s.on("close", () => done(all));
  s.on("error", () => done(all));
  s.setTimeout(5000, () => s.destroy());
  s.write(text);
});
const head = (method, path, ...headers) => raw([`${method} ${path} HTTP/1.1`, ...headers, "Connection: close", "", ""].join("\r\n"));

const rss = () => +/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1];
const slim = !process.env.INSULA_SANITIZED; // a sanitizer takes memory of its own
ok(!slim || rss() < 10240, "idle it takes less than 10 MB", rss() + " kB");
const page = await open(home);
await page.waitForSelector("#tonew");
ok((await page.textContent("h1")).includes("No runs"), "the page of an empty store");
await page.click("#tonew");
await page.waitForSelector("#go");
await named(page, "form");
await page.fill("#f-time-limit", "60");
const db = process.env.LIVE_DB || "sqlite:";
await page.fill("#f-sessions", "4");
await page.fill("#f-db", db);
ok((await page.textContent("#command")).includes("insula test --db=" + db + " --time-limit=60 --online --sessions=4"), "the form shows its command line", await page.textContent("#command"));
await page.screenshot({ path: "screenshots/new.png" });
await page.click("#go");
await page.waitForSelector("svg.live", { timeout: 120000 });
await page.waitForTimeout(1500);
const rate = await page.$eval(".figure b", b => +b.textContent.replace(/,/g, ""));
ok(rate > 0, "a running test of " + db + " is followed: rate", rate);
await page.waitForSelector("#sofar li", { timeout: 60000 });
ok(/rc holds/.test(await until(page, "#sofar", t => t.includes("rc holds"))), "and the verdicts so far", await page.textContent("#sofar"));
await page.screenshot({ path: "screenshots/live.png" });
await page.click("#stop");
await page.waitForSelector("#report:not([hidden])", { timeout: 60000 });
ok(/Promise (kept|undecided)|Nothing promised/.test(await page.textContent("#jobstate")), "it is stopped, and what was recorded is checked", await page.textContent("#jobstate"));
await page.click("#report");
await page.waitForSelector("#pictures[data-ready]");
ok(await page.$("#timeline") !== null, "the report opens from there");
await page.goBack();
await page.waitForSelector("#jobstate");
await page.click("p.back a");
await page.waitForSelector("tbody tr");
same(await page.$$eval("tbody tr", all => all.length), 1, "the run is in the list");
ok((await page.textContent("tbody tr .db")).startsWith(db === "postgres:" ? "PostgreSQL" : "SQLite"), "with its database");

// A watch: a file of the store grows, verdicts follow it, a violation is found.
const stream = readFileSync("good.edn", "utf8").trim().split("\n");
const event = (type, process, value) => `{:type :${type}, :process ${process}, :time ${1e12 + ++clock}, :f :txn, :value ${value}}`;
let clock = 0;
const lost = [["100", '[[:w "x" 1]]'], ["101", '[[:r "x" 1] [:w "x" 2]]'], ["102", '[[:r "x" 1] [:w "x" 3]]']].flatMap(([p, v]) => [event("invoke", p, v.replace(/:r "x" 1/, ':r "x" nil')), event("ok", p, v)]);
writeFileSync("live/growing.edn", stream.slice(0, 400).join("\n") + "\n");
await page.goto(home + "#new");
await page.waitForSelector("#go");
await page.focus("#k-watch");
await page.keyboard.press("Enter");
await page.waitForSelector("#f-file");
await page.selectOption("#f-file", "growing.edn");
await page.selectOption("#f-keep-going", "yes");
ok(/^insula watch --keep-going \S*live\/growing\.edn$/.test(await page.textContent("#command")), "the form of a watch shows its command line", await page.textContent("#command"));
await page.screenshot({ path: "screenshots/watch-form.png" });
await page.click("#go");
await page.waitForSelector("#sofar .kept", { timeout: 60000 });
ok(/^.*rc holds/.test(await page.textContent("#sofar")), "a watch says what holds so far", await page.textContent("#sofar"));
const seenBefore = await page.textContent("#figures");
appendFileSync("live/growing.edn", stream.slice(400).join("\n") + "\n");
ok(await until(page, "#figures", t => t !== seenBefore) !== seenBefore, "and follows the file as it grows");
appendFileSync("live/growing.edn", lost.join("\n") + "\n");
await page.waitForSelector("#sofar .broken", { timeout: 60000 });
await until(page, "#said", t => t.includes("LostUpdate"));
ok(/si violated/.test(await page.textContent("#sofar")) && (await page.textContent("#said")).includes("LostUpdate"), "a violation is shown when it has happened, with its report", await page.textContent("#sofar"));
await page.screenshot({ path: "screenshots/watch.png", fullPage: true });
await page.click("#stop");
await page.waitForSelector("#jobstate:has-text('Violated')", { timeout: 60000 });
ok(/^Violated after/.test(await page.textContent("#jobstate")), "and it is stopped", await page.textContent("#jobstate"));
await named(page, "watch");

// Uploads.
async function upload(name, content) {
  await page.goto(home + "#check");
  await page.waitForSelector("#file");
  await page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer: content });
}
await upload("fork <b>.insula", readFileSync("fork.insula"));
await page.waitForSelector("#report:not([hidden])", { timeout: 60000 });
ok((await page.textContent("#jobstate")).includes("LongFork"), "a history that is dropped on the page is checked", await page.textContent("#jobstate"));
await page.screenshot({ path: "screenshots/check.png" });
await upload("bad.edn", Buffer.from("{:type :invoke, :f :txn, :value [[:r 1 nil]], :process 0}\n{:type :wrong"));
await page.waitForSelector("#jobstate:has-text('Not checked')", { timeout: 60000 });
ok(/history\.edn:2: expected/.test(await page.textContent("#jobstate")), "a malformed one says where", await page.textContent("#jobstate"));
const bomb = gzipSync(Buffer.alloc(1 << 27, "r(1,1,1,1)\n"), { level: 9 });
await upload("bomb.txt.gz", Buffer.concat(Array(14).fill(bomb)));
await page.waitForSelector("h1:has-text('has ended')", { timeout: 120000 });
await page.waitForTimeout(1000);
ok(/memory|limit/i.test(await page.textContent("#jobstate") + await page.textContent("#said")), "a decompression bomb ends at the limit", await page.textContent("#jobstate"));
await page.goto(home + "#check");
await page.waitForSelector("#file");
writeFileSync("large.bin", "");
const fs = await import("node:fs");
fs.truncateSync("large.bin", 2 ** 30);
await page.setInputFiles("#file", "large.bin");
await page.waitForSelector("#trouble:not([hidden])");
ok(/the limit is/.test(await page.textContent("#trouble")), "a file of 1 GB is refused before it is sent", await page.textContent("#trouble"));
const declared = await head("POST", "/api/check?name=x", `Host: 127.0.0.1:${port}`, "X-Insula: 1", "Content-Length: 1073741824", "Expect: 100-continue");
ok(/^HTTP\/1.1 413/.test(declared) && declared.includes("upload-limit"), "and by the server, which says why", declared.slice(0, 200));
const chunk = "fffff\r\n" + "x".repeat(0xfffff) + "\r\n";
await raw(`POST /api/check?name=x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Insula: 1\r\nTransfer-Encoding: chunked\r\n\r\n` + chunk.repeat(24) + "0\r\n\r\n");
ok(await status("/api/about") === 200 && readdirSync("live").filter(d => d.startsWith("check-")).length === 3, "nor without a length, and nothing of it stays", readdirSync("live"));
quiet({ said: page.said.filter(s => !/413|ERR_/.test(s)), asked: page.asked }, "serve");
// By the keyboard alone: from the list to a test that runs, to its report and back.
const keys = await open(home);
await keys.waitForSelector("tbody tr");
async function tabTo(id) {
  for (let i = 0; i < 60; i++) {
    await keys.keyboard.press("Tab");
    if (await keys.evaluate(() => document.activeElement.id) === id) return true;
  }
  return false;
}
ok(await tabTo("tonew"), "Tab reaches the form's link");
await keys.keyboard.press("Enter");
await keys.waitForSelector("#go");
ok(await tabTo("f-time-limit"), "and its fields");
await keys.keyboard.press("Control+A");
await keys.keyboard.type("1");
ok(await tabTo("go"), "and its button");
await keys.keyboard.press("Enter");
await keys.waitForSelector("#report:not([hidden])", { timeout: 60000 });
ok(await keys.evaluate(() => document.activeElement.id) === "report", "when it has ended, its report is one key away");
await keys.keyboard.press("Escape");
await keys.waitForSelector("tbody tr");
await keys.evaluate(() => new Promise(requestAnimationFrame));
same(await keys.$$eval("tbody tr", all => all.length), 5, "Escape leads back to the list, with the new run");
const tree = await (await keys.context().newCDPSession(keys)).send("Accessibility.getFullAXTree");
const roles = tree.nodes.filter(n => !n.ignored).map(n => n.role && n.role.value);
ok(["heading", "main", "table", "columnheader", "searchbox", "combobox", "link", "button", "checkbox"].every(r => roles.includes(r)), "the accessibility tree has what the page has", [...new Set(roles)]);
ok(tree.nodes.every(n => n.ignored || !["button", "link", "checkbox", "combobox", "searchbox"].includes(n.role.value) || (n.name && n.name.value)), "and names for it");
quiet(keys, "by the keyboard");
const listed = (await (await ask("/api/runs")).json()).runs.filter(r => r.state === "checked").map(r => r.run), jobs = (await (await ask("/api/jobs")).json()).jobs;
for (const dark of [false, true]) {
  const small = await open(home, { width: 390, height: 844, dark });
  const where = " on a phone" + (dark ? ", dark" : "");
  await small.waitForSelector("tbody tr");
  await fits(small, "served list" + where);
  for (const view of ["new", "check"]) { await small.goto(home + "#" + view); await small.waitForSelector(view === "new" ? "#go" : "#file"); await fits(small, view + where); }
  await small.goto(home + "#new");
  for (const kind of ["hunt", "watch"]) { await small.click("#k-" + kind); await small.waitForSelector(kind === "hunt" ? "#f-budget" : "#f-file"); await fits(small, kind + where); }
  await small.goto(home + "#compare=" + listed.slice(0, 2).join(","));
  await small.waitForSelector("table.compare");
  await fits(small, "two runs" + where);
  for (const kind of ["test", "watch", "check"]) {
    await small.goto(home + "#job=" + jobs.find(j => j.kind === kind).job);
    await small.waitForSelector("h1:has-text('has ended')");
    await fits(small, "a job, " + kind + where);
    await small.screenshot({ path: "screenshots/job-" + kind + (dark ? "-dark" : "") + ".png", fullPage: true });
  }
  quiet(small, where.trim());
}

// ---- attacks ----

mkdirSync("live/plain", { recursive: true });
writeFileSync("live/plain/log.jsonl", "");
writeFileSync("outside.txt", "secret");
if (!existsSync("live/plain/link.txt")) symlinkSync(resolve("outside.txt"), "live/plain/link.txt");
if (!existsSync("live/linked")) symlinkSync(resolve("."), "live/linked");
const own = `Host: 127.0.0.1:${port}`;
for (const path of ["/../outside.txt", "/..%2foutside.txt", "/%2e%2e/outside.txt", "/plain/../../outside.txt", "/plain/..%2f..%2foutside.txt", "/plain/link.txt", "/linked/outside.txt", "//etc/passwd", "/plain/%2fetc%2fpasswd", "/etc/passwd", "/.job-1.log", "/api/runs/..%2f..", "/plain"]) {
  const got = await head("GET", path, own);
  ok(/^HTTP\/1.1 4\d\d/.test(got) && !got.includes("secret") && !got.includes("root:"), "no way out of the store: " + path, got.slice(0, 300));
}
for (const [method, path] of [["DELETE", "/api/runs/..%2fmany"], ["DELETE", "/api/runs/linked"], ["DELETE", "/api/runs/.."]])
  ok(/^HTTP\/1.1 404/.test(await head(method, path, own, "X-Insula: 1")), "nothing outside is removed: " + path);
ok(existsSync("many/run-0/result.json") && existsSync("outside.txt"), "it is all still there");
for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${port}.evil.example`, ""])
  ok(/^HTTP\/1.1 40[03]/.test(await head("GET", "/api/runs", "Host: " + host)), "a foreign Host is refused: '" + host + "'");
ok(/not this server/.test(await head("GET", "/", `Host: evil.example:${port}`)), "and told why");
const body = JSON.stringify({ kind: "test", options: { db: "sqlite:", txns: "10" } });
for (const [headers, what] of [[{}, "without X-Insula"], [{ "X-Insula": "1", Origin: "http://evil.example" }, "from another origin"], [{ "X-Insula": "1", Origin: "null" }, "from no origin"], [{ "X-Insula": "1", "Sec-Fetch-Site": "cross-site" }, "across sites"]]) {
  const lines = Object.entries({ ...headers, "Content-Length": body.length }).map(([k, v]) => k + ": " + v);
  const got = await raw([`POST /api/jobs HTTP/1.1`, own, ...lines, "Connection: close", "", body].join("\r\n"));
  ok(/^HTTP\/1.1 403/.test(got), "a request " + what + " starts nothing", got.slice(0, 200));
}
for (const options of [{ db: "sqlite:/etc/passwd" }, { db: "exec:touch x" }, { db: "sqlite:?x=/../y" }, { "fault-command": "kill=touch x" }, { store: "/tmp" }, { output: "x" }, { sessions: "1 --store=/tmp" }, { db: "sqlite:", workload: "../x" }, { "counterexample": "x" }, { db: "postgres:?socket=/tmp" }])
  same(await status("/api/jobs", { ...post, body: JSON.stringify({ kind: "test", options }) }), 400, "no such option from a request: " + JSON.stringify(options));
for (const file of ["", "../outside.txt", "/etc/passwd", "plain/link.txt", "linked/outside.txt", "plain", ".job-1.log", "nothing.edn", "plain/../../outside.txt"])
  same(await status("/api/jobs", { ...post, body: JSON.stringify({ kind: "watch", file }) }), 400, "no watch of '" + file + "'");
same(await status("/api/jobs", { ...post, body: JSON.stringify({ kind: "watch", file: "growing.edn", options: { spool: "x" } }) }), 400, "nor with a file to write");
for (const bad of ["", "[]", "{", "nonsense", '{"kind": "rm"}', "[".repeat(60000)]) same(await status("/api/jobs", { ...post, body: bad }), 400, "no job from '" + bad.slice(0, 12) + "'");
same(await status("/api/jobs/99"), 404, "no such job");
// A page of another origin, in the browser.
const foreign = await open("data:text/html,<h1>x</h1>");
const reached = await foreign.evaluate(async url => { try { await fetch(url + "api/jobs", { method: "POST", headers: { "X-Insula": "1" }, body: "{}" }); return "sent"; } catch { return "refused"; } }, home);
same(reached, "refused", "the browser keeps a foreign page from it");
const slow = [];
for (let i = 0; i < 1000; i++) { const s = connect(port, "127.0.0.1"); s.on("error", () => {}); s.write("GET / HTTP/1.1\r\nHost: x"); slow.push(s); }
await new Promise(r => setTimeout(r, 500));
same(await status("/api/about"), 200, "a thousand slow connections do not stop it");
for (const s of slow) s.destroy();
same(await status("/api/runs"), 200, "nor afterwards");
ok(!slim || rss() < 60000, "nor does it keep their memory", rss() + " kB");
ok((await ended()) === 0, "Ctrl-C ends it");

// With a token.
await serve("--token", "abcdefgh12345678");
const bare = home.replace(/\?.*/, "");
same((await fetch(bare + "api/runs")).status, 401, "without the token there is nothing");
same((await fetch(bare + "api/runs", { headers: { Authorization: "Bearer wrong" } })).status, 401, "nor with a wrong one");
same((await fetch(bare + "api/runs", { headers: { Authorization: "Bearer abcdefgh12345678" } })).status, 200, "a script has it in a header");
const let_in = await open(home);
await let_in.waitForSelector("tbody tr");
ok(!let_in.url().includes("token"), "a browser by the address, once", let_in.url());
await ended();
await browser.close();
console.log("1.." + number);
process.exit(failed ? 1 : 0);
