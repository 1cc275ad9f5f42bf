// Opens HTML reports from disk in Chromium and uses them like a reader would.
// Usage: report.mjs SAMPLE.html LARGE.html RECORDED.html SCREENSHOT_DIR
// SAMPLE is the report on the result of tests/report/sample.c, LARGE one on a generated
// history that fails in many ways, RECORDED one on a run of SQLite, where it could be
// recorded.  Prints TAP.
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

const wide = await open(1280, 800, false);
ok(statSync(sample).size < 2e6, "the report is under 2 MB");
const ready = await opening(sample);
ok(ready < 1000, "it opens in under a second", ready + " ms");
same(await wide.$$eval(".ladder li", all => all.map(l => l.className.split(" ")[0])),
  ["pass", "fail", "fail", "fail", "fail", "fail", "fail", "unknown"], "the ladder shows every verdict");
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
  same(await sticking(small), 0, "no text sticks out of its box there");
  same(small.said, [], "nothing was complained about there");
  await small.screenshot({ path: shots + "/narrow" + (dark ? "-dark" : "") + ".png", fullPage: true });
}
// A large history: still small, still fast, and every anomaly can be drawn.
const big = await open(1280, 800, false, large);
ok(statSync(large).size < 2e6, "the report on a large history is under 2 MB", statSync(large).size);
const bigReady = await opening(large);
ok(bigReady < 1000, "it opens in under a second", bigReady + " ms");
const total = await big.$$eval("nav button", all => all.length);
ok(total > 10, "it lists many anomalies", total);
let bad = "";
for (let i = 0; i < total; i++) {
  await big.keyboard.press("e");
  const [b, e] = [await boxes(big), await edges(big)];
  if (b.length < 2 || !e.length || await overlaps(big) || await sticking(big)) bad += " " + i;
  if (i + 1 < total) await big.keyboard.press("j");
}
same(bad, "", "each can be drawn with all its reasons");
same(big.said, [], "without a complaint");
await big.screenshot({ path: shots + "/large.png", fullPage: true });

if (existsSync(recorded)) {
  const run = await open(1280, 800, false, recorded);
  ok(await run.$$eval("#run .done", all => all.length) > 10, "a recorded run has its throughput drawn");
  ok((await run.textContent("#run")).includes("SQLite"), "and says what it was");
  same(run.said, [], "without a complaint");
  await run.screenshot({ path: shots + "/recorded.png", fullPage: true });
} else {
  ok(true, "a recorded run has its throughput drawn # SKIP no SQLite driver");
}
console.log("1.." + number);
await browser.close();
process.exit(failed ? 1 : 0);
