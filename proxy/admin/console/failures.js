// Attempts that failed, and retrying them.
import { change, part, read } from "./api.js";
import { openDialog } from "./ask.js";
import { badge, button, h, show, table } from "./dom.js";
import { ago, moment } from "./text.js";

export const load = async () => (await read("failures")).failures;

export function view(failures, { refresh }) {
  return h("section", null,
    h("p", { class: "soft" }, "The latest attempts that failed on this instance, newest first. Callers may not have noticed: another source or a stale answer may have been served instead."),
    table("Failures", ["When", "Source", "Result", "Error", "Parameters", "Retry"], failures.map((f) => ({ key: f.id, cells: cells(f, refresh) })), "No recent failures."));
}

function cells(f, refresh) {
  return [
    h("time", { datetime: f.at, title: f.at }, ago(f.at), h("div", { class: "soft" }, moment(f.at))),
    [h("strong", { class: "mono" }, f.endpoint), h("div", { class: "mono soft" }, f.source)],
    [badge("bad", "✕", f.result), h("div", { class: "soft number" }, `${f.ms} ms`)],
    h("span", { class: "words" }, f.error),
    f.params ? h("span", { class: "mono words" }, paramText(f.params)) : badge("plain", "◇", "personal", "The parameters are personal and were not recorded"),
    f.can_retry ? button("Retry", "Call this source again and show each stage", () => retry(f, refresh), { "aria-label": `Retry ${f.endpoint}/${f.source}` }) : h("span", { class: "soft" }, "–"),
  ];
}

const paramText = (params) => Object.entries(params ?? {}).filter(([, v]) => v !== null && v !== "").map(([k, v]) => `${k}=${typeof v === "string" ? v : JSON.stringify(v)}`).join(" ") || "none";

async function retry(f, refresh) {
  const box = h("div", { class: "stages", role: "status" }, h("p", { class: "soft" }, "Calling…"));
  const dialog = openDialog({ title: `Retry: ${f.endpoint}/${f.source}`, body: [h("p", { class: "mono words" }, paramText(f.params)), box], wide: true });
  try {
    const answer = await change("POST", `failures/${part(f.id)}/retry`);
    if (!dialog.open()) return;
    show(box,
      h("p", null, answer.worked ? badge("good", "✓", "It works now") : badge("bad", "✕", "It still fails"), answer.error && h("span", { class: "words" }, ` ${answer.error}`)),
      /breaker/.test(answer.error) && h("p", { class: "soft" }, "The host's breaker is open. To call it anyway, reset the breaker or hold it closed under Upstreams."),
      h("ol", null, answer.stages.map((stage) => h("li", null, h("h3", null, stage.name), h("pre", { tabindex: 0, "aria-label": stage.name }, stage.detail)))));
  } catch (e) {
    show(box, h("p", { class: "error" }, `✕ ${e.message}`));
  }
  refresh();
}
