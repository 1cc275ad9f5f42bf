// Opens HTML reports from disk in Chromium and uses them like a reader would.
// Usage: report.mjs SAMPLE.html LARGE.html RECORDED.html SCREENSHOT_DIR
// SAMPLE is the report on the result of tests/report/sample.c, LARGE one on a generated
// history that fails in many ways, RECORDED one on a run of SQLite, where it could be
// recorded; broken.html, kept.html, unseen.html and untimed.html are beside them.  Prints TAP.
import { createRequire } from "node:module";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { resolve } from "node:path";

const require = createRequire(resolve("package.json"));
const { chromium } = require("playwright-core");
const [sample, large, recorded, shots] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });

let number = 0, failed = 0;
function ok(holds, what, more = "") {
  console.log((holds ? "ok " : "not ok ") + ++number + " - " + what);
  if (!holds) { failed++; console.log("# " + more); }
}
const same = (a, b, what) => ok(JSON.stringify(a) === JSON.stringify(b), what, JSON.stringify(a) + " is not " + JSON.stringify(b));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

async function open(width, height, dark, file = sample) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
  page.said = [];
  page.asked = [];
  page.on("console", m => { if (m.type() === "error" || m.type() === "warning") page.said.push(m.text()); });
  page.on("pageerror", e => page.said.push(e.message));
  page.on("request", r => { if (!/^(file|data):/.test(r.url())) page.asked.push(r.url()); });
  await page.goto("file://" + resolve(file));
  return page;
}

// The fastest of a few, as other programs run too.
async function opening(file) {
  let best = Infinity;
  for (let i = 0; i < 4 && best >= 1000; i++) {
    const page = await open(1280, 800, false, file);
    best = Math.min(best, await page.evaluate(() => performance.getEntriesByType("navigation")[0].domComplete));
    await page.close();
  }
  return best;
}

const boxes = page => page.$$eval("svg.pic .box", all => all.map(b => b.dataset.txn).sort());
const edges = page => page.$$eval("svg.pic .e", all => all.map(e => e.dataset.from + " " + e.dataset.type + " " + e.dataset.to).sort());
const choose = async (page, name) => {
  const i = await page.evaluate(n => JSON.parse(document.getElementById("data").textContent).histories[0].anomalies.findIndex(a => a.name === n), name);
  await page.click('nav button[data-i="' + i + '"]');
};

// Boxes must not cover one another, and labels must not cover boxes' text.
const overlaps = page => page.$$eval("svg.pic .box rect", all => {
  const r = all.map(x => x.getBoundingClientRect());
  let n = 0;
  for (let i = 0; i < r.length; i++)
    for (let j = i + 1; j < r.length; j++)
      if (r[i].left < r[j].right - 1 && r[j].left < r[i].right - 1 && r[i].top < r[j].bottom - 1 && r[j].top < r[i].bottom - 1) n++;
  return n;
});
// No operation may stick out of its box.
const sticking = page => page.$$eval("svg.pic .box", all => all.filter(b => {
  const box = b.querySelector("rect").getBoundingClientRect();
  return [...b.querySelectorAll("text")].some(t => t.getBoundingClientRect().right > box.right + 1);
}).length);

// No line may pass a box that it does not join.  The boxes' places are in their style.
const crossings = page => page.$$eval("svg.pic", all => {
  const bad = [];
  for (const pic of all) {
    const boxes = [...pic.querySelectorAll(".box")].map(b => {
      const [x, y] = b.style.transform.match(/-?[0-9.]+/g).map(Number), r = b.querySelector("rect");
      return {id: b.dataset.txn, x, y, w: +r.getAttribute("width"), h: +r.getAttribute("height")};
    });
    for (const e of pic.querySelectorAll(".e")) {
      const line = e.querySelector("path.l"), length = line.getTotalLength();
      for (let at = 0; at <= length; at += 2) {
        const p = line.getPointAtLength(at);
        const hit = boxes.find(b => b.id !== e.dataset.from && b.id !== e.dataset.to && p.x > b.x && p.x < b.x + b.w && p.y > b.y && p.y < b.y + b.h);
        if (hit) { bad.push(e.dataset.from + "-" + e.dataset.to + " over " + hit.id); break; }
      }
    }
  }
  return bad;
});
// Every transaction that the headline names is drawn.
const undrawn = page => page.evaluate(() => {
  const d = JSON.parse(document.getElementById("data").textContent).histories[0];
  const i = +document.querySelector('nav button[aria-current="true"]').dataset.i;
  const ids = new Set(d.anomalies[i].txns.map(t => t.id));
  const named = d.anomalies[i].headline.split(/[^A-Za-z0-9_]+/).filter(w => ids.has(w));
  const drawn = new Set([...document.querySelectorAll("svg.pic .box")].map(b => b.dataset.txn));
  return named.filter(n => !drawn.has(n));
});

const wide = await open(1280, 800, false);
ok(statSync(sample).size < 2e6, "the report is under 2 MB");
const ready = await opening(sample);
ok(ready < 1000, "it opens in under a second", ready + " ms");
same(await wide.$$eval(".ladder li", all => all.map(l => l.className.split(" ")[0])),
  ["pass", "fail", "fail", "fail", "fail", "fail", "fail", "fail", "unknown"], "the ladder shows every verdict");
same(await wide.$$eval("nav button", all => all.length), 5, "every anomaly is in the list");

await choose(wide, "ConflictCM");
same(await boxes(wide), ["t1", "t3"], "the cycle's transactions are drawn");
same(await edges(wide), ["t1 co t3", "t3 rw t1"], "the cycle's edges are drawn");
await wide.screenshot({ path: shots + "/wide-cycle.png", fullPage: true });

await wide.click('svg.pic .e[data-type="co"] text');
same(await boxes(wide), ["t1", "t2", "t3", "t4", "t5"], "expanding an inferred edge draws what it rests on");
same(await edges(wide), ["t1 co t3", "t1 so t2", "t2 wr t4", "t3 rw t1", "t3 wr t5", "t4 wr t5"], "with the edges of its reason");
ok((await wide.textContent("#stage")).includes("The other order is excluded"), "and says which alternative was excluded");
same(await overlaps(wide), 0, "no box covers another");
same(await crossings(wide), [], "no line crosses a box");
same(await sticking(wide), 0, "no text sticks out of its box");
await wide.screenshot({ path: shots + "/wide-expanded.png", fullPage: true });

await wide.hover('svg.pic .box[data-txn="t5"]');
ok((await wide.textContent("#tip")).includes("r(x)=9"), "hovering over a transaction shows all its operations");
await wide.keyboard.press("Escape");
same(await boxes(wide), ["t1", "t3"], "Escape folds");
await wide.focus('svg.pic .e[data-type="co"]');
await wide.keyboard.press("Enter");
same((await boxes(wide)).length, 5, "Enter on a focused edge expands it");
await wide.keyboard.press("j");
ok((await wide.textContent("#stage h2")).startsWith("LostUpdate"), "j goes to the next anomaly");
same(await edges(wide), ["t1 rw t3", "t3 rw t1"], "whose edges are drawn");
await choose(wide, "NoVersionOrder");
same(await wide.$$eval(".cases button", all => all.length), 2, "a case distinction has a button for each case");
await wide.click(".cases button:nth-of-type(2)");
same(await edges(wide), ["t1 rw t3", "t3 ww t1"], "and shows the chosen case's cycle");
await wide.emulateMedia({ media: "print" });
await wide.pdf({ path: shots + "/print.pdf" });
same(wide.said, [], "nothing was complained about on the console");
same(wide.asked, [], "nothing was asked of the network");

for (const dark of [false, true]) {
  const small = await open(390, 844, dark);
  await choose(small, "ConflictCM");
  await small.click("[data-toggle]");
  const width = await small.evaluate(() => document.documentElement.scrollWidth);
  ok(width <= 390, "a narrow screen needs no sideways scrolling" + (dark ? ", dark" : ""), width + " pixels");
  same(await overlaps(small), 0, "no box covers another there");
  same(await crossings(small), [], "no line crosses a box there");
  same(await sticking(small), 0, "no text sticks out of its box there");
  same(small.said, [], "nothing was complained about there");
  await small.screenshot({ path: shots + "/narrow" + (dark ? "-dark" : "") + ".png", fullPage: true });
}
// A thousand anomalies: all are listed, marked on the time line, and can be drawn.
const big = await open(1280, 800, false, large);
ok(statSync(large).size < 12e6, "the report on a large history is under 12 MB", statSync(large).size);
const bigReady = await opening(large);
ok(bigReady < 2000, "it opens in under two seconds", bigReady + " ms");
const total = await big.$$eval("nav button", all => all.length);
ok(total >= 1000, "it lists a thousand anomalies", total);
same(await big.evaluate(() => JSON.parse(document.getElementById("data").textContent).histories[0].anomalies.length), total, "each that is listed is in it");
same(await big.$$eval("#run .mark", all => all.length), total, "each has its mark on the time line");
const fits = page => page.evaluate(() => { const s = document.querySelector("#stage .scroll"); return s.scrollWidth <= s.clientWidth + 1; });
let bad = "";
const order = await big.$$eval("nav button", all => all.map(b => +b.dataset.i));
for (let i = 0; i < total; i += i < 40 ? 1 : 37) {
  await big.evaluate(n => document.querySelector('nav button[data-i="' + n + '"]').click(), order[i]);
  const missing = await undrawn(big), folded = await crossings(big), fit = await fits(big);
  await big.keyboard.press("e");
  const [b, e] = [await boxes(big), await edges(big)];
  const over = await crossings(big);
  if (b.length < 2 || !e.length || missing.length || folded.length || over.length || !fit || await overlaps(big) || await sticking(big))
    bad += " " + i + "(" + [b.length, e.length, missing, folded, over, fit].join(" ") + ")";
}
same(bad, "", "each fits and can be drawn with all its reasons, all that its headline names, and no line across a box");
await big.evaluate(n => document.querySelector('nav button[data-i="' + n + '"]').click(), order[0]);
const before = await big.$eval("svg.pic .box rect", p => p.getBoundingClientRect().width);
await big.click("#larger");
await big.click("#larger");
ok(await big.$eval("svg.pic .box rect", p => p.getBoundingClientRect().width) > before * 1.5, "the picture can be made larger");
await big.click("#fit");
ok(Math.abs(await big.$eval("svg.pic .box rect", p => p.getBoundingClientRect().width) - before) < 2, "and fits again");
const far = order[order.length - 1];
await big.evaluate(n => document.querySelector('.mark[data-mark="' + n + '"]').dispatchEvent(new MouseEvent("click", {bubbles: true})), far);
same(await big.$eval('nav button[aria-current="true"]', b => +b.dataset.i), far, "a mark leads to its anomaly");
same(big.said, [], "without a complaint");
await big.screenshot({ path: shots + "/large.png", fullPage: true });

// A run whose promise was broken: that is the headline, and the chart shows when.
for (const [width, dark] of [[1280, false], [1280, true], [390, false]]) {
  const page = await open(width, 900, dark, "broken.html");
  ok(/^Promise BROKEN: asked for serializable, SampleDB 1.2 promises strict serializability/.test(await page.textContent("h1")), "the promise is the headline");
  ok((await page.textContent("#top")).includes("SampleDB manual, 4.2"), "with its source");
  ok((await page.textContent("#power")).startsWith("64 of 64 transactions committed"), "and what the run is worth");
  same(await page.$$eval("#run .mark", all => all.length), 1, "the anomaly is marked on the time line");
  same(await page.$$eval("#run .moment", all => all.map(m => m.dataset.moment).sort()), ["t1", "t3"], "with its transactions");
  same(await page.$$eval("#run .fault", all => all.length), 1, "beside the fault");
  same(await page.$$eval("#run .outage", all => all.length), 2, "and the outage, which the legend names");
  ok((await page.textContent(".moments")).includes("t1 committed at 8.870 s; killed at 8.885 s; t3 missed it at 9.200 s."), "the text says when");
  ok((await page.textContent("#run")).includes("1 fault injected, 1 connection lost, 0 unexpected errors"), "lost connections are not called errors");
  const scroll = await page.evaluate(() => document.documentElement.scrollWidth);
  ok(scroll <= width, "nothing sticks out", scroll);
  same(page.said, [], "nothing was complained about");
  await page.screenshot({ path: shots + "/broken-" + width + (dark ? "-dark" : "") + ".png", fullPage: true });
}
const kept = await open(1280, 900, false, "kept.html");
ok((await kept.textContent("h1")).startsWith("Promise kept: "), "a promise that was kept is the headline");
same(await kept.$$eval(".ladder .beyond", all => all.length), 8, "levels beyond it are not promised");
ok((await kept.textContent(".ladder .fail.beyond")).includes("not promised"), "and say so");
ok((await kept.textContent("#top .weak")).includes("could hardly have found anything"), "a weak run is called so");
ok(await kept.$eval("#stage", s => s.hidden), "anomalies beyond it are not drawn");
same(await kept.$$eval("nav button", all => all.length), 1, "but listed, a line each");
await kept.screenshot({ path: shots + "/kept.png", fullPage: true });
await kept.click("nav button");
ok(await kept.$$eval("svg.pic .box", all => all.length) >= 2, "and drawn when asked for");
same(kept.said, [], "without a complaint");

const unseen = await open(1280, 900, false, "unseen.html");
same(await unseen.textContent("#lost"), "1 commit was lost: acknowledged, and not there for those who came later.", "a lost commit is said at the top");
ok((await unseen.textContent("#stage h2")).includes("lost commit"), "its heading calls it so", await unseen.textContent("#stage h2"));
ok((await unseen.textContent("#stage")).includes("Lost commit: t3 began after t1 had ended"), "and its story");
ok((await unseen.textContent(".moments")).includes("t1 committed at 8.870 s; killed at 8.885 s; t3 missed it at 9.200 s."), "with its times and the fault");
same(unseen.said, [], "without a complaint");
const untimed = await open(1280, 900, false, "untimed.html");
ok((await untimed.textContent("#undecided")).includes("strict serializability: "), "why strict serializability is not decided is said", await untimed.textContent("#verdict"));
same(untimed.said, [], "without a complaint");

if (existsSync(recorded)) {
  const run = await open(1280, 800, false, recorded);
  ok(await run.$$eval("#run .done", all => all.length) > 10, "a recorded run has its throughput drawn");
  ok((await run.textContent("h1")).includes("SQLite"), "and says what it was");
  same(run.said, [], "without a complaint");
  await run.screenshot({ path: shots + "/recorded.png", fullPage: true });
} else {
  ok(true, "a recorded run has its throughput drawn # SKIP no SQLite driver");
}
console.log("1.." + number);
await browser.close();
process.exit(failed ? 1 : 0);
