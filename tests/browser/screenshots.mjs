// Pictures of the four main views.  Usage: screenshots.mjs ADDRESS DIRECTORY DATABASE
// In its working directory are a store and report.html, see scripts/screenshots.
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve("package.json"));
const { chromium } = require("playwright-core");
const [home, out, db] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
const open = async (url, height) => { const p = await browser.newPage({ viewport: { width: 1240, height } }); await p.goto(url); return p; };

const runs = await open(home, 620);
await runs.waitForSelector("tbody tr");
await runs.screenshot({ path: out + "/runs.png" });

const report = await open("file://" + resolve("report.html"), 860);
await report.waitForSelector("#pictures[data-ready]");
await report.keyboard.press("j"); // what is beyond a promise that was kept is shown when asked for
await report.waitForTimeout(300);
await report.screenshot({ path: out + "/report.png" });
if (await report.$("#ontimeline")) await report.click("#ontimeline");
await report.waitForTimeout(900);
await report.evaluate(() => document.getElementById("latencies").scrollIntoView());
await report.waitForTimeout(300);
await report.screenshot({ path: out + "/timeline.png" });

await runs.goto(home + "#new");
await runs.waitForSelector("#go");
await runs.fill("#f-db", db);
await runs.fill("#f-time-limit", "9");
await runs.click("#go");
await runs.waitForSelector("svg.live", { timeout: 120000 });
await runs.waitForTimeout(6000);
await runs.screenshot({ path: out + "/live.png" });
await runs.click("#stop");
await runs.waitForSelector("#report:not([hidden])", { timeout: 60000 });
await browser.close();
