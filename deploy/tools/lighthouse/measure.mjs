// Starts the program with recorded exchanges on free ports, and prints what Lighthouse thinks of
// its pages, a line each: node measure.mjs ../../../bin/sundry / /docs
// Each is the median of three runs, because a busy machine makes pages look slow.
// With a figure below the goal, the exit status is 1, and the audits that cost points are named.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as chromeLauncher from "chrome-launcher";
import lighthouse from "lighthouse";
import { computeMedianRun } from "lighthouse/core/lib/median-run.js";

const goal = 98;
const [program, ...paths] = process.argv.slice(2);

// home resolves to the address in the line of the log that says where the program serves.
function home(server) {
  return new Promise((resolve, reject) => {
    createInterface({ input: server.stderr }).on("line", (line) => {
      const { msg, home } = JSON.parse(line);
      if (msg === "serving") {
        resolve(home.replace(/\/$/, ""));
      }
    });
    server.on("exit", (status) => reject(new Error(`${program} ended with status ${status}`)));
  });
}

const server = spawn(program, ["serve", "--replay", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-format", "json"]);
const site = await home(server);
const chrome = await chromeLauncher.launch({
  chromePath: process.env.CHROME_PATH ?? "/usr/bin/chromium",
  chromeFlags: ["--headless", "--no-sandbox", "--disable-gpu"],
});
console.log(["performance", "accessibility", "best practices", "SEO", "page"].join("  "));
for (const path of paths) {
  const runs = [];
  for (let i = 0; i < 3; i++) {
    runs.push((await lighthouse(site + path, { port: chrome.port, logLevel: "error" })).lhr);
  }
  const lhr = computeMedianRun(runs);
  const figures = Object.values(lhr.categories).map((category) => Math.round(category.score * 100));
  console.log([...figures.map((figure, i) => String(figure).padStart([11, 13, 14, 3][i])), path].join("  "));
  if (figures.some((figure) => figure < goal)) {
    process.exitCode = 1;
    const weighed = Object.values(lhr.categories).flatMap((category) => category.auditRefs).filter((ref) => ref.weight > 0);
    const costly = new Set(weighed.map((ref) => lhr.audits[ref.id]).filter((audit) => audit.score !== null && audit.score < 0.98));
    costly.forEach((audit) => console.log(`    ${audit.id}: ${audit.title} ${audit.displayValue ?? ""}`));
  }
}
await chrome.kill();
server.removeAllListeners("exit");
server.kill();
